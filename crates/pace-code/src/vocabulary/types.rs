//! [`TypeVocabulary`]: the operations of syntax trees.

use pace_graph::Op;
use serde::{Deserialize, Serialize};

use super::UNKNOWN;
use super::words::Words;
use crate::error::Error;
use crate::kind::NodeKind;

/// Node types by number: those of the training functions, most frequent first, then [`UNKNOWN`].
///
/// Its serde form is the list of names. OGB's `mapping/typeidx2type.csv` (see [`pace_graph::dataset::read_mapping`]) is such
/// a list, too: trees that are encoded by it have the numbers of the official dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct TypeVocabulary {
    words: Words,
    /// The operation of each [`NodeKind`].
    ops: Vec<Op>,
}

impl TypeVocabulary {
    /// The names, in the order of their operations.
    pub fn words(&self) -> &[String] {
        self.words.list()
    }

    /// The operation of a node type, or that of [`UNKNOWN`].
    pub fn op(&self, kind: NodeKind) -> Op {
        self.ops[kind as usize]
    }
}

impl TryFrom<Vec<String>> for TypeVocabulary {
    type Error = Error;

    fn try_from(list: Vec<String>) -> Result<TypeVocabulary, Error> {
        let words = Words::new(list);
        let op = |word: &str| words.get(word).and_then(|index| Op::try_from(index).ok());
        let unknown = op(UNKNOWN).ok_or(Error::Vocabulary { word: UNKNOWN })?;
        let ops = NodeKind::ALL.iter().map(|kind| op(kind.name()).unwrap_or(unknown)).collect();
        Ok(TypeVocabulary { words, ops })
    }
}

impl From<TypeVocabulary> for Vec<String> {
    fn from(vocabulary: TypeVocabulary) -> Vec<String> {
        vocabulary.words.into_list()
    }
}
