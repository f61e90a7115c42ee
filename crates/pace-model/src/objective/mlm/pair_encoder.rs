//! [`PairEncoder`]: a Transformer over two graphs at once, from the published MLM code (a fork of CATE, Yan et al. 2021).

use burn::module::{Module, Param};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use crate::batch::{DagBatch, Stream, floats, ints};
use crate::layers::{BlocksConfig, EncoderStack, Init, Keys, NormPlacement};

/// Configuration of a [`PairEncoder`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairConfig {
    /// Transformer blocks; their dropout is also that of the segment embedding.
    pub blocks: BlocksConfig,
    /// Padding is attended to like nodes: the published code, for which every cell is full length.
    pub padding: bool,
}

impl PairConfig {
    /// 24 pre-norm blocks of 8 heads and width 64.
    pub fn as_published() -> PairConfig {
        let blocks = BlocksConfig {
            n_layers: 24,
            n_heads: 8,
            d_ff: 64,
            dropout: 0.1,
            norm: NormPlacement::Pre,
            tied_init: true,
        };
        PairConfig { blocks, padding: true }
    }

    /// Initialises for node vectors of width `d`.
    pub fn init(&self, d: usize, init: &mut Init<'_>) -> PairEncoder {
        PairEncoder { segments: init.normal([2, d]), stack: EncoderStack::new(&self.blocks, d, init), config: *self }
    }
}

/// x <- Blocks([x_first ; x_second] + Drop(sqrt(D) S`[segment]`)), full attention over the nodes of both.
///
/// Graphs 2i and 2i + 1 of a batch are a pair. Neighbours in the batch are neighbours in memory, so two sequences of N
/// become one of 2N without a copy.
#[derive(Module, Debug)]
pub struct PairEncoder {
    /// [2, D].
    segments: Param<Tensor<2>>,
    stack: EncoderStack,
    #[module(skip)]
    config: PairConfig,
}

impl PairEncoder {
    /// Shapes: [B*N, D] -> [B*N, D], in the same order.
    ///
    /// # Panics
    /// If the number of graphs is odd.
    pub fn forward(&self, nodes: Tensor<2>, batch: &DagBatch) -> Tensor<2> {
        let ([b, n], [rows, d]) = (batch.dims(), nodes.dims());
        assert!(b.is_multiple_of(2), "{b} graphs are not pairs");
        let segment = (0..rows as i32).map(|row| row / n as i32 % 2).collect();
        let segments = self.segments.val().select(0, ints(segment, [rows], &batch.device()));
        let dropout = batch.pass.dropout(self.config.blocks.dropout, Stream::Pair);
        // The blocks number their sites from 0; this one is out of their reach.
        let x = nodes + dropout.apply(usize::MAX - 1, segments * (d as f64).sqrt());
        self.stack.forward(x, &Keys::Bias(self.bias(batch)), dropout)
    }

    /// Which of the 2N keys of its pair a position reads, [B/2, 2N, 2N].
    fn bias(&self, batch: &DagBatch) -> Tensor<3> {
        let [b, n] = batch.dims();
        let keys = (0..b * n).map(|index| match self.config.padding || index % n < batch.lengths[index / n] {
            true => 0.0,
            false => f32::NEG_INFINITY,
        });
        floats(keys.collect(), [b / 2, 1, 2 * n], &batch.device()).repeat_dim(1, 2 * n)
    }
}
