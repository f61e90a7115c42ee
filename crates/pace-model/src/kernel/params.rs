//! The parameters and settings of a Transformer block, as plain tensors: what a module hands to a kernel.
//!
//! Weights follow the convention of `burn::nn::Linear`: [d_in, d_out], y = x W + b.

use burn::tensor::Tensor;

use super::dropout::Dropout;

/// Where a block normalises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormPlacement {
    /// x <- LN(x + Drop(f(x))): PACE-VAE, and the original Transformer.
    Post,
    /// x <- x + Drop(f(LN(x))): PACE-MLM. The caller applies the last norm.
    Pre,
}

/// What all blocks of a stack share, apart from their parameters.
#[derive(Debug, Clone, Copy)]
pub struct BlockConfig {
    /// Number of attention heads H; must divide the width D.
    pub n_heads: usize,
    /// Added to the variance in layer norm.
    pub epsilon: f64,
    /// Post-norm or pre-norm.
    pub norm: NormPlacement,
    /// On the attention weights, on the hidden units and on the output of each sublayer.
    pub dropout: Dropout,
}

/// Gain and offset of a layer norm, both `[D]`.
#[derive(Debug, Clone)]
pub struct NormParams {
    /// Gain.
    pub gamma: Tensor<1>,
    /// Offset.
    pub beta: Tensor<1>,
}

/// Self-attention with one packed input projection.
#[derive(Debug, Clone)]
pub struct SelfAttentionParams {
    /// [D, 3D]: queries, keys, values side by side; inside each, head after head.
    pub wqkv: Tensor<2>,
    /// `[3D]`.
    pub bqkv: Tensor<1>,
    /// [D, D], the output projection.
    pub wo: Tensor<2>,
    /// `[D]`.
    pub bo: Tensor<1>,
}

/// Attention from the sequence to a memory.
#[derive(Debug, Clone)]
pub struct CrossAttentionParams {
    /// [D, D], the queries.
    pub wq: Tensor<2>,
    /// `[D]`.
    pub bq: Tensor<1>,
    /// [D, 2D]: keys and values of the memory side by side.
    pub wkv: Tensor<2>,
    /// `[2D]`.
    pub bkv: Tensor<1>,
    /// [D, D], the output projection.
    pub wo: Tensor<2>,
    /// `[D]`.
    pub bo: Tensor<1>,
}

/// The two layers of the feed-forward sublayer, with ReLU between; F is its width.
#[derive(Debug, Clone)]
pub struct FeedForwardParams {
    /// [D, F].
    pub w1: Tensor<2>,
    /// `[F]`.
    pub b1: Tensor<1>,
    /// [F, D].
    pub w2: Tensor<2>,
    /// `[D]`.
    pub b2: Tensor<1>,
}

/// One encoder block: 12 tensors.
#[derive(Debug, Clone)]
pub struct EncoderParams {
    /// First sublayer.
    pub attention: SelfAttentionParams,
    /// Norm of the first sublayer.
    pub norm_attention: NormParams,
    /// Second sublayer.
    pub feed_forward: FeedForwardParams,
    /// Norm of the second sublayer.
    pub norm_feed_forward: NormParams,
}

/// One decoder block: 20 tensors.
#[derive(Debug, Clone)]
pub struct DecoderParams {
    /// First sublayer.
    pub attention: SelfAttentionParams,
    /// Norm of the first sublayer.
    pub norm_attention: NormParams,
    /// Second sublayer, reading the memory.
    pub cross: CrossAttentionParams,
    /// Norm of the second sublayer.
    pub norm_cross: NormParams,
    /// Third sublayer.
    pub feed_forward: FeedForwardParams,
    /// Norm of the third sublayer.
    pub norm_feed_forward: NormParams,
}

/// The dropout sites of one block; block number `layer` of a stack adds `layer * SITES_PER_LAYER`.
pub(crate) mod site {
    pub(crate) const SELF_WEIGHTS: usize = 0;
    pub(crate) const SELF_OUTPUT: usize = 1;
    pub(crate) const CROSS_WEIGHTS: usize = 2;
    pub(crate) const CROSS_OUTPUT: usize = 3;
    pub(crate) const HIDDEN: usize = 4;
    pub(crate) const FEED_FORWARD_OUTPUT: usize = 5;
    pub(crate) const SITES_PER_LAYER: usize = 8;
}
