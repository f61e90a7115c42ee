//! [`RootedEmbedding`]: the subgraph around a node as its label (the paper's last appendix).

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use serde::{Deserialize, Serialize};

use super::embedding::{Join, NodeEmbeddingConfig};
use super::init::Init;
use super::position::Position;
use crate::kernel::Dropout;

/// What a node is embedded by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeLabel {
    /// Its operation o_i.
    #[default]
    Op,
    /// f(G_i^h), where G_i^h is the subgraph of the nodes up to h hops away. By the corollary of Theorem 3.1 the sequence still
    /// represents the graph injectively.
    Rooted {
        /// h.
        height: u32,
    },
}

/// e_i = Join(f(G_i^h), p_i) with `f(G) = ReLU(W phi(G) + b)`, where phi writes the canonical form of a rooted subgraph as zeros and
/// ones ([`DagBatch::rooted_features`](crate::DagBatch::rooted_features)).
///
/// phi is injective. With h = 0 this is the embedding of operations. A table with a row per rooted subgraph would be the paper's
/// f, too, but knows nothing about subgraphs that it has not seen.
#[derive(Module, Debug)]
pub struct RootedEmbedding {
    label: Linear,
    position: Position,
    #[module(skip)]
    join: Join,
}

impl RootedEmbedding {
    /// For features of width `n_features`, with widths, position and join as of an embedding of operations.
    pub fn new(
        config: &NodeEmbeddingConfig,
        n_features: usize,
        n_labels: usize,
        init: &mut Init<'_>,
    ) -> RootedEmbedding {
        RootedEmbedding {
            label: init.linear(n_features, config.d_op, true),
            position: Position::new(config.position, n_labels, config.d_position, init),
            join: config.join,
        }
    }

    /// Embeds R nodes. Shapes: rooted [R, F], dag2seq [R, 2P] -> [R, D].
    pub fn forward(&self, rooted: Tensor<2>, dag2seq: Tensor<2>, dropout: Dropout) -> Tensor<2> {
        let label = relu(self.label.forward(rooted));
        self.join.forward(label, self.position.forward(dag2seq, dropout))
    }
}
