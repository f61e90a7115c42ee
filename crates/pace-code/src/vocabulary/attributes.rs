//! [`AttributeVocabulary`]: the names, numbers and strings of syntax trees.

use serde::{Deserialize, Serialize};

use super::words::Words;
use super::{NONE, UNKNOWN};
use crate::error::Error;
use crate::function::Function;

/// Attributes by number: the most frequent of the training functions, then [`NONE`] and [`UNKNOWN`]. [`Function::MASK`] is
/// always among them.
///
/// Its serde form is the list of words, as OGB's `mapping/attridx2attr.csv` is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct AttributeVocabulary {
    words: Words,
    unknown: u32,
    none: u32,
}

impl AttributeVocabulary {
    /// How many attributes OGBG-CODE2 takes from its training functions.
    pub const OGB_SIZE: usize = 10_000;

    /// The words, in the order of their numbers.
    pub fn words(&self) -> &[String] {
        self.words.list()
    }

    /// The number of an attribute, that of [`UNKNOWN`], or that of [`NONE`].
    ///
    /// An attribute that reads `__NONE__` or `__UNK__` in the source is not told from these, as in OGB.
    pub fn index(&self, attribute: Option<&str>) -> u32 {
        match attribute {
            Some(attribute) => self.words.get(attribute).unwrap_or(self.unknown),
            None => self.none,
        }
    }
}

impl TryFrom<Vec<String>> for AttributeVocabulary {
    type Error = Error;

    fn try_from(list: Vec<String>) -> Result<AttributeVocabulary, Error> {
        let words = Words::new(list);
        words.require(Function::MASK)?;
        let (unknown, none) = (words.require(UNKNOWN)?, words.require(NONE)?);
        Ok(AttributeVocabulary { words, unknown, none })
    }
}

impl From<AttributeVocabulary> for Vec<String> {
    fn from(vocabulary: AttributeVocabulary) -> Vec<String> {
        vocabulary.words.into_list()
    }
}
