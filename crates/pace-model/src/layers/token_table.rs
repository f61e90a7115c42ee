//! [`TokenTable`]: a vector per token, the input of graph neural networks.

use burn::module::{Module, Param};
use burn::tensor::Tensor;

use super::Stream;
use super::init::Init;
use crate::batch::DagBatch;

/// A table of vectors, one per operation and special token, with dropout. PyTorch's `nn.Embedding`.
#[derive(Module, Debug)]
pub struct TokenTable {
    /// [T, D].
    weight: Param<Tensor<2>>,
    #[module(skip)]
    dropout: f64,
}

impl TokenTable {
    /// Standard normal vectors of width `d`.
    ///
    /// # Panics
    /// Unless 0 <= dropout < 1.
    pub fn new(n_tokens: usize, d: usize, dropout: f64, init: &mut Init<'_>) -> TokenTable {
        // Now, and not by a worker in the first training step.
        assert!((0.0..1.0).contains(&dropout), "dropout {dropout} is not from 0 to below 1");
        TokenTable { weight: init.normal([n_tokens, d]), dropout }
    }

    /// The vectors of all positions. Shapes: batch [B, N] -> [B*N, D].
    pub fn forward(&self, batch: &DagBatch) -> Tensor<2> {
        let vectors = self.weight.val().select(0, batch.tokens());
        batch.pass.dropout(self.dropout, Stream::EncoderEmbedding).apply(0, vectors)
    }
}
