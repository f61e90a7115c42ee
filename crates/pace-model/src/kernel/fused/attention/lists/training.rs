//! Attention along lists with what a backward pass needs, and that backward pass.

use super::{Sparse, third};
use crate::kernel::fused::attention::gather::{Gather, Terms};
use crate::kernel::fused::attention::order::{ByHead, ByLane, Heads, Order};
use crate::kernel::fused::attention::softmax::{softmax, softmax_grad};
use crate::kernel::fused::simd::{LANES, Simd, kernel, map};

/// Calls a kernel with the heads in their order, and D. With the sizes known, a row stays in registers.
macro_rules! with_heads {
    ($a:ident, |$heads:ident, $d:ident| $call:expr) => {{
        macro_rules! call {
            ($order:expr, $size:expr) => {{
                let ($heads, $d) = ($order, $size);
                $call
            }};
        }
        match ($a.order, $a.n_heads, $a.d) {
            (Order::Lanes, 8, 256) => call!(ByLane::<8>, 256),
            (Order::Lanes, 8, d) => call!(ByLane::<8>, d),
            (Order::Lanes, 4, d) => call!(ByLane::<4>, d),
            (Order::Lanes, _, d) => call!(ByLane::<16>, d),
            (Order::Heads, n_heads, d) => call!(ByHead { n_heads, d_head: d / n_heads }, d),
        }
    }};
}

kernel! {
    /// `qkv` [rows since the origin, 3D] -> `out` [rows, D]. `weights` [pairs, H] receives the softmax, negated if dropout drops it:
    /// so backward reads both from one number.
    fn forward(a: &Sparse<'_>, qkv: &[f32], weights: &mut [f32], out: &mut [f32]) = forward_body
}

#[inline(always)]
fn forward_body<S: Simd>(s: S, a: &Sparse<'_>, qkv: &[f32], weights: &mut [f32], out: &mut [f32]) {
    with_heads!(a, |heads, d| forward_of(s, a, heads, d, qkv, weights, out));
}

#[inline(always)]
fn forward_of<S: Simd, H: Heads<S>>(
    s: S,
    a: &Sparse<'_>,
    heads: H,
    d: usize,
    qkv: &[f32],
    weights: &mut [f32],
    out: &mut [f32],
) {
    let (n_heads, scale, keep_scale) = (heads.n_heads(), a.scale(), a.site.kept_scale());
    for (row, out) in out.chunks_exact_mut(d).enumerate() {
        let (keys, at) = a.keys(row);
        let w = &mut weights[at..at + keys.len() * n_heads];
        if keys.len() == 1 {
            // The only key has all of the attention; leaves, half of a tree, have one.
            w.fill(1.0);
        } else {
            let q = &qkv[3 * (a.first + row - a.origin) * d..][..d];
            heads.scores(s, w, q, a.part(qkv, keys, third::KEYS, d), scale);
            softmax(s, w, n_heads);
        }
        if a.site.is_on() {
            let first = a.lists.pair(a.first + row) * n_heads;
            map!(s, w, [], |at, w, []| {
                let keep = a.site.keep_lanes(s, s.count((first + at) as u32, 1, LANES as u32));
                s.select(keep, w, s.sub(s.zero(), w))
            });
        }
        let values = Terms { rows: a.part(qkv, keys, third::VALUES, d), weights: w, first: 0 };
        heads.mix::<_, true>(s, out, values, keep_scale);
    }
}

/// What backward starts from.
#[derive(Clone, Copy)]
pub(crate) struct Backward<'a> {
    /// [rows since the origin, 3D].
    pub(crate) qkv: &'a [f32],
    /// What [`forward`] kept, [pairs, H].
    pub(crate) weights: &'a [f32],
    /// The gradient of the output, [rows, D].
    pub(crate) dout: &'a [f32],
}

/// Backward of a chunk that ends at both seams: -> `dqkv` [rows, 3D]; `dscores` is scratch.
pub(crate) fn backward(a: &Sparse<'_>, from: Backward<'_>, dqkv: &mut [f32], dscores: &mut Vec<f32>) {
    dscores.resize(from.weights.len(), 0.0);
    backward_queries(a, from, dscores, dqkv);
    backward_keys(a, from, dscores, dqkv);
}

kernel! {
    /// The queries' side of backward, from weights and `dout` of the chunk: -> `dscores` [pairs, H], and the queries' third of the
    /// chunk's `dqkv` [rows, 3D].
    ///
    /// With dw_k = dout V_k where dropout keeps k, else 0: ds_k = w_k (dw_k - sum_j w_j dw_j) / sqrt(D/H);
    /// dQ_q = sum_k ds_k K_k.
    fn backward_queries(a: &Sparse<'_>, from: Backward<'_>, dscores: &mut [f32], dqkv: &mut [f32]) = queries_body
}

#[inline(always)]
fn queries_body<S: Simd>(s: S, a: &Sparse<'_>, from: Backward<'_>, dscores: &mut [f32], dqkv: &mut [f32]) {
    with_heads!(a, |heads, d| queries_of(s, a, heads, d, from, dscores, dqkv));
}

#[inline(always)]
fn queries_of<S: Simd, H: Heads<S>>(
    s: S,
    a: &Sparse<'_>,
    heads: H,
    d: usize,
    Backward { qkv, weights, dout }: Backward<'_>,
    dscores: &mut [f32],
    dqkv: &mut [f32],
) {
    let (n_heads, scale, keep_scale) = (heads.n_heads(), a.scale(), a.site.kept_scale());
    for (row, (dout, dqkv)) in dout.chunks_exact(d).zip(dqkv.chunks_exact_mut(3 * d)).enumerate() {
        let (keys, at) = a.keys(row);
        let w = &weights[at..at + keys.len() * n_heads];
        let ds = &mut dscores[at..at + keys.len() * n_heads];
        heads.scores(s, ds, dout, a.part(qkv, keys, third::VALUES, d), 1.0);
        softmax_grad(s, ds, w, n_heads, keep_scale, scale);
        let keys = Terms { rows: a.part(qkv, keys, third::KEYS, d), weights: ds, first: 0 };
        heads.mix::<_, false>(s, &mut dqkv[..d], keys, 1.0);
    }
}

kernel! {
    /// The keys' side of backward, from weights, `dscores` [pairs, H] and `dout` of all rows since the origin: -> the other two thirds
    /// of the chunk's `dqkv` [rows, 3D].
    ///
    /// dK_k = sum_q ds_qk Q_q and dV_k = sum_q drop(w_qk) dout_q, over the queries that read k, in order.
    fn backward_keys(a: &Sparse<'_>, from: Backward<'_>, dscores: &[f32], dqkv: &mut [f32]) = keys_body
}

#[inline(always)]
fn keys_body<S: Simd>(s: S, a: &Sparse<'_>, from: Backward<'_>, dscores: &[f32], dqkv: &mut [f32]) {
    with_heads!(a, |heads, d| keys_of(s, a, heads, d, from, dscores, dqkv));
}

#[inline(always)]
fn keys_of<S: Simd, H: Heads<S>>(
    s: S,
    a: &Sparse<'_>,
    heads: H,
    d: usize,
    Backward { qkv, weights, dout }: Backward<'_>,
    dscores: &[f32],
    dqkv: &mut [f32],
) {
    let (first, readers) = (a.lists.pair(a.origin), a.lists.readers());
    for (row, dqkv) in dqkv.chunks_exact_mut(3 * d).enumerate() {
        let (dk, dv) = dqkv[d..].split_at_mut(d);
        let readers = readers.of(a.first + row);
        let queries = Terms { rows: a.part(qkv, readers, third::QUERIES, d), weights: dscores, first };
        heads.mix::<_, false>(s, dk, queries, 1.0);
        let rows = Gather { places: readers, data: dout, stride: d, origin: a.origin };
        heads.mix::<_, true>(s, dv, Terms { rows, weights, first }, a.site.kept_scale());
    }
}
