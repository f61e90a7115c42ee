//! The floor: the same words for every function.

use std::collections::HashMap;

use pace_model::objective::sub_token_f1;

use super::N_WORDS;

/// Words that are predicted for every function, and how well that does.
#[derive(Clone, Debug, PartialEq)]
pub struct Floor {
    /// The words.
    pub words: Vec<String>,
    /// On the test functions.
    pub f1: f64,
}

/// The k most frequent words of the training names, with k from 1 to 5 that does best on these.
pub fn most_frequent(train: &[Vec<String>], test: &[Vec<String>]) -> Floor {
    let mut counts: HashMap<&String, usize> = HashMap::new();
    train.iter().flatten().for_each(|word| *counts.entry(word).or_default() += 1);
    let mut words: Vec<(&String, usize)> = counts.into_iter().collect();
    words.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let words: Vec<String> = words.into_iter().take(N_WORDS).map(|(word, _)| word.clone()).collect();
    let f1 = |words: &[String], labels: &[Vec<String>]| {
        labels.iter().map(|label| sub_token_f1(words, label)).sum::<f64>() / labels.len().max(1) as f64
    };
    let best = (1..=words.len()).max_by(|&a, &b| f1(&words[..a], train).total_cmp(&f1(&words[..b], train)));
    let words = words[..best.unwrap_or(0)].to_vec();
    Floor { f1: f1(&words, test), words }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_number_of_frequent_words_is_chosen() {
        let names = |names: &[&str]| -> Vec<Vec<String>> {
            names.iter().map(|name| name.split(' ').map(str::to_owned).collect()).collect()
        };
        let floor = most_frequent(&names(&["get name", "get name", "get", "set"]), &names(&["get", "put"]));
        assert_eq!(floor.words, ["get", "name"], "2.33 alone, 2.67 with name, 2.6 with set");
        assert!((floor.f1 - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(most_frequent(&[], &[]), Floor { words: Vec::new(), f1: 0.0 });
    }
}
