//! [`VocabularyBuilder`]: counts what the training functions hold.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::{AttributeVocabulary, NONE, TypeVocabulary, UNKNOWN, Vocabularies};
use crate::function::Function;

/// Makes vocabularies from functions that are shown one by one: the training functions, and no others.
///
/// ```
/// use pace_code::{Extractor, VocabularyBuilder};
/// let function = Extractor::default().function("def f(x):\n    return x")?.expect("no filter");
/// let mut builder = VocabularyBuilder::default();
/// builder.add(&function);
/// let vocabularies = builder.build(10);
/// assert_eq!(vocabularies.attributes.words(), ["x", "_mask_", "__NONE__", "__UNK__"]);
/// assert_eq!(vocabularies.encode(&function).attributes, [2, 1, 2, 0, 2, 0, 2]);
/// # Ok::<(), pace_code::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct VocabularyBuilder {
    types: Tally,
    attributes: Tally,
}

impl VocabularyBuilder {
    /// Counts the nodes of a function.
    pub fn add(&mut self, function: &Function) {
        for node in function.tree.nodes() {
            self.types.add(node.kind.name());
            if let Some(attribute) = node.attribute {
                self.attributes.add(attribute);
            }
        }
    }

    /// All types, and the `max_attributes` most frequent attributes ([`AttributeVocabulary::OGB_SIZE`] on CODE2), by falling
    /// count; of equal counts the first to appear.
    pub fn build(&self, max_attributes: usize) -> Vocabularies {
        let types = self.types.most_frequent(usize::MAX).chain([UNKNOWN]);
        let mut attributes: Vec<&str> = self.attributes.most_frequent(max_attributes).collect();
        if !attributes.contains(&Function::MASK) {
            attributes.push(Function::MASK);
        }
        attributes.extend([NONE, UNKNOWN]);
        let owned = |words: &mut dyn Iterator<Item = &str>| words.map(str::to_owned).collect::<Vec<_>>();
        Vocabularies {
            types: TypeVocabulary::try_from(owned(&mut { types })).expect("has every special word"),
            attributes: AttributeVocabulary::try_from(owned(&mut attributes.into_iter()))
                .expect("has every special word"),
        }
    }
}

/// How often each word appeared, and which appeared first.
#[derive(Clone, Debug, Default)]
struct Tally {
    words: HashMap<String, Count>,
}

#[derive(Clone, Copy, Debug)]
struct Count {
    n_seen: u64,
    appeared: usize,
}

impl Tally {
    fn add(&mut self, word: &str) {
        if let Some(count) = self.words.get_mut(word) {
            count.n_seen += 1;
        } else {
            self.words.insert(word.to_owned(), Count { n_seen: 1, appeared: self.words.len() });
        }
    }

    /// The most frequent words, without those that have a meaning of their own.
    fn most_frequent(&self, n_words: usize) -> impl Iterator<Item = &str> {
        let words = self.words.iter().filter(|(word, _)| *word != NONE && *word != UNKNOWN);
        let mut words: Vec<(&String, &Count)> = words.collect();
        words.sort_unstable_by_key(|(_, count)| (Reverse(count.n_seen), count.appeared));
        words.into_iter().take(n_words).map(|(word, _)| &**word)
    }
}
