//! The checks of shapes that the operations share. Each panics with the shapes that do not fit.

use burn::tensor::Tensor;

use super::params::{
    BlockConfig, CrossAttentionParams, DecoderParams, EncoderParams, FeedForwardParams, NormParams, SelfAttentionParams,
};

/// Whether a bias is part of a graph: the fused path treats biases as constants and would lose its gradient.
#[cfg(feature = "flex")]
pub(super) fn needs_grad(bias: Option<&Tensor<3>>) -> bool {
    bias.is_some_and(Tensor::is_tracked)
}

/// How many rows a graph has.
pub(super) fn per_graph(rows: usize, batch: usize) -> usize {
    assert!(
        batch > 0 && rows.is_multiple_of(batch),
        "{rows} rows are not a whole number per graph of a batch of {batch}"
    );
    rows / batch
}

/// Heads divide the width.
pub(super) fn heads(d: usize, n_heads: usize) {
    assert!(n_heads > 0 && d.is_multiple_of(n_heads), "width {d} is not a multiple of {n_heads} heads");
}

/// A bias, if any, is [batch, queries, keys].
pub(super) fn bias(bias: Option<&Tensor<3>>, shape: [usize; 3]) {
    if let Some(bias) = bias {
        assert_eq!(bias.dims(), shape, "attention bias of another shape than [batch, queries, keys]");
    }
}

/// x is [B*N, D]; returns D.
pub(super) fn rows(x: &Tensor<2>, batch: usize, n: usize, config: &BlockConfig) -> usize {
    let [rows, d] = x.dims();
    assert!(rows == batch * n && rows > 0, "x of {rows} rows for a bias of {batch} graphs of {n} nodes");
    heads(d, config.n_heads);
    d
}

fn map(weight: &Tensor<2>, bias: &Tensor<1>, shape: [usize; 2], name: &str) {
    let found = (weight.dims(), bias.dims());
    assert!(found == (shape, [shape[1]]), "{name} has weight and bias {found:?}, not {shape:?} and [{}]", shape[1]);
}

fn self_attention(p: &SelfAttentionParams, d: usize) {
    map(&p.wqkv, &p.bqkv, [d, 3 * d], "wqkv");
    map(&p.wo, &p.bo, [d, d], "wo");
}

/// The parameters of encoder blocks of width D.
pub(super) fn encoder(layers: &[EncoderParams], d: usize) {
    for params in layers {
        self_attention(&params.attention, d);
        feed_forward(&params.feed_forward, d);
        norm(&params.norm_attention, d);
        norm(&params.norm_feed_forward, d);
    }
}

fn cross_attention(p: &CrossAttentionParams, d: usize) {
    map(&p.wq, &p.bq, [d, d], "wq");
    map(&p.wkv, &p.bkv, [d, 2 * d], "wkv");
    map(&p.wo, &p.bo, [d, d], "wo");
}

fn feed_forward(p: &FeedForwardParams, d: usize) {
    let [_, width] = p.w1.dims();
    map(&p.w1, &p.b1, [d, width], "w1");
    map(&p.w2, &p.b2, [width, d], "w2");
}

/// Gain and offset are `[D]`.
pub(super) fn norm(norm: &NormParams, d: usize) {
    assert!(norm.gamma.dims() == [d] && norm.beta.dims() == [d], "norm of width {:?}, not {d}", norm.gamma.dims());
}

/// The parameters of decoder blocks of width D.
pub(super) fn decoder(layers: &[DecoderParams], d: usize) {
    for params in layers {
        self_attention(&params.attention, d);
        cross_attention(&params.cross, d);
        feed_forward(&params.feed_forward, d);
        for params in [&params.norm_attention, &params.norm_cross, &params.norm_feed_forward] {
            norm(params, d);
        }
    }
}
