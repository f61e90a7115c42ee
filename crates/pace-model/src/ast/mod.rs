//! Abstract syntax trees as batches: nodes carry a type, an attribute and a depth, and trees are too large for N x N masks.
//!
//! [`AstTable`] holds a dataset, [`AstBatch`] the tensors of some of its trees, padded or packed; [`length_buckets`] says
//! which trees go together.

mod batch;
mod buckets;
mod table;

use serde::{Deserialize, Serialize};

pub use batch::{AstAttention, AstBatch};
pub use buckets::length_buckets;
pub use table::AstTable;

pub use crate::kernel::PairLists;

/// How the trees of a batch share its tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Packing {
    /// Every tree padded to the longest of the batch, R = B*N rows, with a dense mask: fast for small trees.
    Padded,
    /// One tree after the other, R = sum of the lengths, with a list of keys per node: no padding, and memory in proportion
    /// to the allowed pairs (5 to 6 per node on real code).
    Packed,
}

/// Whom a node attends to besides itself. In a tree all of these are few: a node has about as many ancestors, and on average as
/// many descendants, as the tree is deep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attends {
    /// Its descendants (`MaskRule::AST`): the root attends to all.
    #[default]
    Descendants,
    /// Its ancestors: what PACE's mask allows on other DAGs.
    Ancestors,
    /// Both.
    Relatives,
}

/// How trees become tensors: the facts of the data and the limits of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AstLayout {
    /// Node types; 98 on OGBG-CODE2.
    pub n_types: usize,
    /// Attributes; 10,030 on OGBG-CODE2.
    pub n_attributes: usize,
    /// Deeper nodes count as this deep; 20 in the OGB baselines. At most 65,535.
    pub max_depth: usize,
    /// P, at least 1: how many positions of the walk have an embedding. Nodes from P - 1 on share the last one, as positions and
    /// as parents; the mask, types and depths still tell them apart. Raise it if trees are larger: it costs 2 D numbers each.
    pub n_positions: usize,
    /// Padded or packed.
    pub packing: Packing,
    /// Whom a node attends to.
    #[serde(default)]
    pub attends: Attends,
}
