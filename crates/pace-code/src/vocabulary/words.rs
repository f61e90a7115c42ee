//! [`Words`]: a list of words and the way back.

use std::collections::HashMap;

use crate::error::Error;

/// Words in the order of their numbers. Of equal words the last counts, as in OGB's own code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words {
    list: Vec<String>,
    index: HashMap<String, u32>,
}

impl Words {
    pub(super) fn new(list: Vec<String>) -> Words {
        let index = list.iter().cloned().zip(0..).collect();
        Words { list, index }
    }

    pub(super) fn list(&self) -> &[String] {
        &self.list
    }

    pub(super) fn into_list(self) -> Vec<String> {
        self.list
    }

    pub(super) fn get(&self, word: &str) -> Option<u32> {
        self.index.get(word).copied()
    }

    /// The number of a word that must be there.
    pub(super) fn require(&self, word: &'static str) -> Result<u32, Error> {
        self.get(word).ok_or(Error::Vocabulary { word })
    }
}
