//! Transformer blocks as single operations: fused on the CPU, in stock Burn operations everywhere else.
//!
//! A stock training step on small graphs spends most of its time between the operations: in tiny batched matrix products, permuting
//! copies, and softmax, layer norm and dropout decomposed for autodiff. The functions here take activations flat, [B*N, D], and
//! do a whole attention, add-and-norm or stack of blocks in one operation with a hand-written backward pass. Inside it, threads
//! share the graphs of the batch.
//!
//! - [`encoder`], [`decoder`]: stacks of blocks, which keep the activations of a few graphs in cache from the first block to the last;
//! - [`sparse_encoder`]: the same on packed rows, along lists of keys instead of under a mask;
//! - [`encoder_rows`], [`sparse_encoder_rows`]: stacks of which only some rows are read;
//! - [`shared_encoder`], [`concat_linear`]: a stack, and a map of its result, on graphs of which many nodes have equal
//!   [`Pasts`], computed once each;
//! - [`attention`], [`cross_attention`], [`sparse_attention`], [`add_norm`]: parts, for models that build their own blocks;
//! - [`node_embedding`]: operation and position of a node, what the first block reads;
//! - [`graph_nll`]: the classifiers of a decoder and the likelihood of graphs under them;
//! - [`gru_gates`], [`walk`]: a gated recurrent unit between its products, and one that walks along the edges of graphs;
//! - [`linear`], [`pair_logits`]: a linear map of some rows, and a classifier of pairs of rows;
//! - [`AdamStep`]: the optimiser's update of a parameter;
//! - [`plain`]: the twin of each, by which it is defined and tested.
//!
//! The fused path serves f32 tensors on a `flex` device; anything else takes the twin by itself. Values and gradients are
//! the same for any number of threads: the batch is cut by shape alone, and partial weight gradients are summed in order.
//!
//! # The way in
//!
//! From a call to its inner loop there are five hops. For [`encoder`]:
//!
//! 1. `encoder` (`blocks.rs`) checks the shapes and chooses the fused path or the twin;
//! 2. `StackOp::forward` (`fused/block/op.rs`), which Burn's autodiff calls, lays the weights out;
//! 3. `Stack::forward` (`fused/block/stack.rs`) cuts the batch into chunks, for threads and caches;
//! 4. `Sublayer::forward` (`fused/block/forward.rs`) is the mathematics of a sublayer;
//! 5. the loops: `lanes::forward` (`fused/attention/masked/`), `Panels::product` (`fused/products/`), `norm` (`fused/rows.rs`).
//!
//! Every other operation is shorter: `sparse_encoder` without a graph goes by `packed_encoder` (`fused/inference/`) and its strips to
//! the same loops, `encoder_rows` by `SomeRowsOp` and `SomeRows::forward` (`fused/some_rows/`), `graph_nll` by `LikelihoodOp`.
//!
//! # Masks
//!
//! An attention bias is added to the scores, one [N, M] matrix per graph for all heads: 0 if a query may look at a key, -inf
//! (anything at or under [`MASKED`]) if it may not. Masked weights are exact zeros, and a row with nothing allowed gives
//! zeros, not NaN. A finite penalty such as -1e9 (anything at or under [`PENALISED`]) takes the place of the score, as
//! `masked_fill` does: a row of nothing else is uniform attention and no gradient passes through its scores, which is what
//! the published PACE-MLM code does for nodes without descendants.

mod adam;
mod attention;
mod blocks;
mod check;
mod dropout;
mod embedding;
#[cfg(feature = "flex")]
mod fused;
mod gates;
mod likelihood;
mod linear;
mod pair_lists;
mod pair_logits;
mod params;
mod pasts;
pub mod plain;
mod shared_pasts;
mod some_rows;
mod walk;
mod walk_lists;

use burn::tensor::Tensor;

#[cfg(feature = "flex")]
pub use fused::products::bench;

pub use adam::AdamStep;
pub use attention::{add_norm, attention, cross_attention, is_fused, sparse_attention};
pub use blocks::{decoder, encoder, sparse_encoder};
pub use dropout::Dropout;
pub use embedding::{EmbeddingParams, node_embedding};
pub use gates::gru_gates;
pub use likelihood::{HeadParams, Truth, graph_nll};
pub use linear::{LinearParams, linear};
pub use pair_lists::PairLists;
pub use pair_logits::{RowPairs, pair_logits};
pub use params::{
    BlockConfig, CrossAttentionParams, DecoderParams, EncoderParams, FeedForwardParams, NormParams, NormPlacement,
    SelfAttentionParams,
};
pub use pasts::Pasts;
pub use shared_pasts::{concat_linear, shared_encoder};
pub use some_rows::{encoder_rows, sparse_encoder_rows};
pub use walk::{Tabled, Telling, WalkInputs, WalkParams, walk};
pub use walk_lists::{WalkBuilder, WalkLists};

/// An attention bias at or under this value forbids the pair: its weight is exactly 0.
pub const MASKED: f32 = -1e30;

/// An attention bias at or under this value replaces the score of the pair instead of being added to it.
pub const PENALISED: f32 = -1e8;

/// The attention biases of a decoder.
#[derive(Debug, Clone)]
pub struct Masks {
    /// [B, N, N], of the self-attention.
    pub own: Tensor<3>,
    /// [B, N, M], of the attention to the memory; `None` lets every position read every slot.
    pub memory: Option<Tensor<3>>,
}
