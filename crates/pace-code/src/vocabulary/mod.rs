//! Vocabularies: from names of node types and attributes to numbers, and so from functions to the trees that models read.

mod attributes;
mod counts;
mod types;
mod words;

pub use attributes::AttributeVocabulary;
pub use counts::VocabularyBuilder;
pub use types::TypeVocabulary;

use pace_graph::dataset::Ast;
use pace_graph::{Dag, DagSpec};
use serde::{Deserialize, Serialize};

use crate::function::Function;

/// What stands for a type or an attribute that the training functions do not have, or have too rarely.
pub const UNKNOWN: &str = "__UNK__";
/// The attribute of nodes that have none.
pub const NONE: &str = "__NONE__";

/// Both vocabularies of a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vocabularies {
    /// Of node types.
    pub types: TypeVocabulary,
    /// Of attributes.
    pub attributes: AttributeVocabulary,
}

impl Vocabularies {
    /// The spec of the trees that [`Vocabularies::encode`] makes.
    pub fn spec(&self) -> DagSpec {
        DagSpec::ast(self.types.words())
    }

    /// A function as a tree of numbers, as `pace_graph`'s reader of OGBG-CODE2 gives it.
    ///
    /// O(n log n) in the number of nodes.
    pub fn encode(&self, function: &Function) -> Ast {
        let nodes = function.tree.nodes();
        let n_nodes = nodes.len();
        let (mut ops, mut edges) = (Vec::with_capacity(n_nodes), Vec::with_capacity(n_nodes));
        let (mut attributes, mut is_attributed) = (Vec::with_capacity(n_nodes), Vec::with_capacity(n_nodes));
        let mut depths = Vec::with_capacity(n_nodes);
        for (index, node) in nodes.enumerate() {
            ops.push(self.types.op(node.kind));
            edges.extend(node.parent.map(|parent| (parent, index)));
            attributes.push(self.attributes.index(node.attribute));
            is_attributed.push(node.attribute.is_some());
            depths.push(node.depth as u32);
        }
        Ast {
            dag: Dag::new(ops, edges).expect("a tree with a root is a DAG with a node"),
            attributes,
            is_attributed,
            dfs_order: (0..n_nodes as u32).collect(),
            depths,
            label: function.label(),
        }
    }
}
