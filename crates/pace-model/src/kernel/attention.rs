//! The parts of a block by themselves: attention under a mask, to a memory and along lists, and add-and-norm.
//!
//! Each checks the shapes, then takes the fused path if that serves, else the plain twin.

use burn::tensor::Tensor;

use super::dropout::Dropout;
#[cfg(feature = "flex")]
use super::fused::{
    add_norm::{AddNormOp, AddNormView},
    attention::{
        Packed,
        lists::{SparseOp, SparseShape},
        masked::{AttentionOp, AttentionShape},
    },
    autodiff::{self, Input},
};
use super::pair_lists::PairLists;
use super::params::NormParams;
#[cfg(feature = "flex")]
use super::params::site;
use super::{check, plain};

/// Whether operations on activations like `x` take the fused path: f32 on a `flex` device, with or without autodiff.
pub fn is_fused(x: &Tensor<2>) -> bool {
    #[cfg(feature = "flex")]
    return autodiff::serves(x);
    #[cfg(not(feature = "flex"))]
    {
        let _ = x;
        false
    }
}

/// Multi-head self-attention on a packed projection.
///
/// softmax(Q K^T / sqrt(D/H) + bias) V for every head, dropout on the weights.
///
/// # Shapes
///
/// - qkv: [B*N, 3D], queries, keys, values side by side, each head after head
/// - bias: [B, N, N], see [the module](super) for masks; a constant unless it carries a graph
/// - output: [B*N, D]
///
/// # Panics
///
/// If the shapes do not fit together, with all of them in the message.
pub fn attention(qkv: Tensor<2>, bias: Option<Tensor<3>>, batch: usize, n_heads: usize, dropout: Dropout) -> Tensor<2> {
    let [rows, width] = qkv.dims();
    check::heads(width / 3, n_heads);
    assert!(width.is_multiple_of(3), "packed projection of width {width} is not queries, keys and values");
    let n = check::per_graph(rows, batch);
    check::bias(bias.as_ref(), [batch, n, n]);
    #[cfg(feature = "flex")]
    if autodiff::serves(&qkv) && !check::needs_grad(bias.as_ref()) {
        let site = dropout.site(site::SELF_WEIGHTS);
        let shape = AttentionShape { batch, n, m: n, d: width / 3, n_heads, site };
        let op = AttentionOp { shape, bias: bias.map(Input::constant) };
        return autodiff::run::<1, _>(op, Packed { q: Input::new(qkv), kv: None });
    }
    plain::attention(qkv, bias, batch, n_heads, dropout)
}

/// Multi-head attention from a sequence to a memory; the formula of [`attention`].
///
/// # Shapes
///
/// - q: [B*N, D]; kv: [B*M, 2D], keys and values side by side; bias: [B, N, M]
/// - output: [B*N, D]
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn cross_attention(
    q: Tensor<2>,
    kv: Tensor<2>,
    bias: Option<Tensor<3>>,
    batch: usize,
    n_heads: usize,
    dropout: Dropout,
) -> Tensor<2> {
    let [rows, d] = q.dims();
    let [key_rows, width] = kv.dims();
    check::heads(d, n_heads);
    assert!(width == 2 * d, "keys and values of width {width} do not fit queries of width {d}: twice that is needed");
    let (n, m) = (check::per_graph(rows, batch), check::per_graph(key_rows, batch));
    check::bias(bias.as_ref(), [batch, n, m]);
    #[cfg(feature = "flex")]
    if autodiff::serves(&q) && !check::needs_grad(bias.as_ref()) {
        let shape = AttentionShape { batch, n, m, d, n_heads, site: dropout.site(site::CROSS_WEIGHTS) };
        let op = AttentionOp { shape, bias: bias.map(Input::constant) };
        return autodiff::run::<2, _>(op, Packed { q: Input::new(q), kv: Some(Input::new(kv)) });
    }
    plain::cross_attention(q, kv, bias, batch, n_heads, dropout)
}

/// Multi-head self-attention of T rows on a packed projection, each over its own list of keys.
///
/// softmax over k in lists(q) of (Q_q K_k / sqrt(D/H)), times V, for every head, dropout on the weights. The same as
/// [`attention`] under a mask that allows exactly those pairs, at a cost in proportion to their number.
///
/// # Shapes
///
/// - qkv: [T, 3D], queries, keys, values side by side, each head after head
/// - output: [T, D]; zeros for a row without keys
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn sparse_attention(qkv: Tensor<2>, lists: &PairLists, n_heads: usize, dropout: Dropout) -> Tensor<2> {
    let [rows, width] = qkv.dims();
    assert!(rows == lists.n_rows(), "{rows} rows, and lists for {}", lists.n_rows());
    check::heads(width / 3, n_heads);
    assert!(width.is_multiple_of(3), "packed projection of width {width} is not queries, keys and values");
    #[cfg(feature = "flex")]
    if autodiff::serves(&qkv) {
        let shape = SparseShape { d: width / 3, n_heads, site: dropout.site(site::SELF_WEIGHTS) };
        let op = SparseOp { lists: lists.host().clone(), shape };
        return autodiff::run::<1, _>(op, Packed { q: Input::new(qkv), kv: None });
    }
    plain::sparse_attention(qkv, lists, n_heads, dropout)
}

/// The end of a post-norm sublayer: LN(residual + Drop(x)), LN(s) = (s - mean) / sqrt(var + epsilon) * gamma + beta.
///
/// # Shapes
///
/// - residual, x, output: [rows, D]; gamma, beta: `[D]`
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn add_norm(residual: Tensor<2>, x: Tensor<2>, norm: NormParams, epsilon: f64, dropout: Dropout) -> Tensor<2> {
    let [_, d] = x.dims();
    assert_eq!(residual.dims(), x.dims(), "residual and x differ in shape");
    check::norm(&norm, d);
    #[cfg(feature = "flex")]
    if autodiff::serves(&x) {
        let op = AddNormOp { epsilon: epsilon as f32, site: dropout.site(site::SELF_OUTPUT) };
        let inputs = AddNormView {
            residual: Input::new(residual),
            x: Input::new(x),
            gamma: Input::new(norm.gamma),
            beta: Input::new(norm.beta),
        };
        return autodiff::run::<4, _>(op, inputs);
    }
    plain::add_norm(residual, x, norm, epsilon, dropout)
}
