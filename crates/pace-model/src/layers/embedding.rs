//! [`NodeEmbedding`]: the input of the first block, made of operation embedding and positional encoding.

use burn::module::{Module, Param};
use burn::tensor::activation::relu;
use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};

use super::init::Init;
use super::position::{Position, PositionConfig};
use crate::kernel::{Dropout, EmbeddingParams, node_embedding};

/// How an operation becomes a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpEmbedding {
    /// `ReLU(W onehot(o) + b)`: the VAE models, paper and code.
    ReluLinear,
    /// A table of standard normal rows times sqrt(d), with dropout: the published MLM code.
    ScaledTable,
}

/// How the two parts are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Join {
    /// Side by side: the paper.
    Concat,
    /// Added: the published MLM code. Both parts have the model's width.
    Sum,
}

impl Join {
    /// Label and position, if there is one. Shapes: [R, d_op], [R, d_position] -> [R, D].
    pub(super) fn forward(self, label: Tensor<2>, position: Option<Tensor<2>>) -> Tensor<2> {
        match (position, self) {
            (None, _) => label,
            (Some(position), Join::Concat) => Tensor::cat(vec![label, position], 1),
            (Some(position), Join::Sum) => label + position,
        }
    }
}

/// Configuration of a [`NodeEmbedding`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeEmbeddingConfig {
    /// Operation embedding.
    pub op: OpEmbedding,
    /// Width of the operation embedding.
    pub d_op: usize,
    /// Positional encoding.
    pub position: PositionConfig,
    /// Width of the positional encoding.
    pub d_position: usize,
    /// How they are joined.
    pub join: Join,
}

impl NodeEmbeddingConfig {
    /// The width of the joined embedding, the model's D.
    pub fn d_model(&self) -> usize {
        match (self.join, self.position) {
            (Join::Concat, PositionConfig::None) => self.d_op,
            (Join::Concat, _) => self.d_op + self.d_position,
            (Join::Sum, _) => self.d_op,
        }
    }

    /// Initialises for `n_tokens` operations and special tokens, and `n_labels` labels.
    ///
    /// # Panics
    /// If the parts are to be summed and differ in width.
    pub fn init(&self, n_tokens: usize, n_labels: usize, init: &mut Init<'_>) -> NodeEmbedding {
        let sums = self.join == Join::Sum && self.position != PositionConfig::None;
        assert!(
            !sums || self.d_op == self.d_position,
            "parts of width {} and {} cannot be summed",
            self.d_op,
            self.d_position
        );
        let (weight, bias) = match self.op {
            OpEmbedding::ReluLinear => {
                let bound = 1.0 / (n_tokens as f64).sqrt();
                (init.uniform([n_tokens, self.d_op], bound), Some(init.uniform([self.d_op], bound)))
            }
            OpEmbedding::ScaledTable => (init.normal([n_tokens, self.d_op]), None),
        };
        let position = Position::new(self.position, n_labels, self.d_position, init);
        NodeEmbedding { weight, bias, position, config: *self }
    }
}

/// e_i = Join(Emb(o_i), p_i).
#[derive(Module, Debug)]
pub struct NodeEmbedding {
    /// [T, d_op].
    weight: Param<Tensor<2>>,
    /// [d_op].
    bias: Option<Param<Tensor<1>>>,
    position: Position,
    #[module(skip)]
    config: NodeEmbeddingConfig,
}

impl NodeEmbedding {
    /// The configuration this was made from.
    pub fn config(&self) -> &NodeEmbeddingConfig {
        &self.config
    }

    /// Embeds R nodes. Shapes: tokens `[R]`, features [R, 2P] -> [R, D].
    pub fn forward(&self, tokens: Tensor<1, Int>, features: Tensor<2>, dropout: Dropout) -> Tensor<2> {
        if let (Some(bias), Some([first, second])) = (&self.bias, self.position.dag2seq()) {
            let params = EmbeddingParams { weight: self.weight.val(), bias: bias.val(), first, second };
            return node_embedding(tokens, features, params, self.config.join == Join::Sum, dropout);
        }
        let rows = self.weight.val().select(0, tokens);
        let op = match &self.bias {
            Some(bias) => relu(rows + bias.val().unsqueeze()),
            None => dropout.apply(2, rows * (self.config.d_op as f64).sqrt()),
        };
        self.config.join.forward(op, self.position.forward(features, dropout))
    }
}
