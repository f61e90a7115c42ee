//! [`Vocabulary`]: the sub-tokens of function names that OGBG-CODE2 predicts, and the F1 score of the predictions.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

/// The most frequent sub-tokens of the training labels, then UNK and EOS (Hu et al., OGB, 2020).
///
/// ```
/// use pace_model::objective::Vocabulary;
/// let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
/// let vocabulary = Vocabulary::new([words("get name"), words("set name")].iter().map(Vec::as_slice), 2);
/// assert_eq!(vocabulary.encode(&words("get size name"), 5), [1, 2, 0, 3, 3]); // "size" is unknown
/// assert_eq!(vocabulary.decode(&[1, 0, 3, 0, 0]), ["get", "name"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct Vocabulary {
    words: Vec<String>,
    index: HashMap<String, usize>,
}

impl Vocabulary {
    /// What UNK decodes to, as in OGB.
    pub const UNKNOWN: &str = "__UNK__";

    /// The `max_words` most frequent sub-tokens (5,000 on CODE2); of equally frequent ones the first to appear.
    pub fn new<'a>(labels: impl IntoIterator<Item = &'a [String]>, max_words: usize) -> Vocabulary {
        let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
        for word in labels.into_iter().flatten() {
            let appeared = counts.len();
            counts.entry(word).or_insert((0, appeared)).0 += 1;
        }
        let mut words: Vec<(&str, (usize, usize))> = counts.into_iter().collect();
        words.sort_by_key(|&(_, (count, appeared))| (std::cmp::Reverse(count), appeared));
        Vocabulary::from(words.into_iter().take(max_words).map(|(word, _)| word.to_owned()).collect::<Vec<_>>())
    }

    /// How many classes there are: words, UNK and EOS.
    pub fn n_tokens(&self) -> usize {
        self.words.len() + 2
    }

    /// The class of every word outside the vocabulary.
    pub fn unknown(&self) -> usize {
        self.words.len()
    }

    /// The class that ends a name.
    pub fn end(&self) -> usize {
        self.words.len() + 1
    }

    /// The first `n_positions` sub-tokens as classes, filled up with EOS.
    pub fn encode(&self, label: &[String], n_positions: usize) -> Vec<usize> {
        let classes = label.iter().map(|word| self.index.get(word).copied().unwrap_or(self.unknown()));
        classes.chain(std::iter::repeat(self.end())).take(n_positions).collect()
    }

    /// The words before the first EOS; UNK stays in as a word.
    pub fn decode(&self, tokens: &[usize]) -> Vec<String> {
        let words = tokens.iter().take_while(|&&token| token != self.end());
        words.map(|&token| self.words.get(token).map_or(Vocabulary::UNKNOWN, String::as_str).to_owned()).collect()
    }
}

impl From<Vec<String>> for Vocabulary {
    fn from(words: Vec<String>) -> Vocabulary {
        let index = words.iter().cloned().enumerate().map(|(class, word)| (word, class)).collect();
        Vocabulary { words, index }
    }
}

impl From<Vocabulary> for Vec<String> {
    fn from(vocabulary: Vocabulary) -> Vec<String> {
        vocabulary.words
    }
}

/// The F1 score of OGBG-CODE2 for one function: harmonic mean of precision and recall between the *sets* of predicted
/// sub-tokens and of all sub-tokens of the true name, untruncated; 0 if undefined. The score of a dataset is the mean.
pub fn sub_token_f1(predicted: &[String], reference: &[String]) -> f64 {
    let predicted: HashSet<&String> = predicted.iter().collect();
    let reference: HashSet<&String> = reference.iter().collect();
    let common = predicted.intersection(&reference).count();
    if common == 0 {
        return 0.0;
    }
    let precision = common as f64 / predicted.len() as f64;
    let recall = common as f64 / reference.len() as f64;
    2.0 * precision * recall / (precision + recall)
}
