//! Attention of any shape, head by head, through the general matrix product.
//!
//! Columns keep their usual order (head, position in head). Weights are [graphs, H, N, M], negated if dropout drops them. Those of
//! large graphs are not kept: backward gets none and computes them again from queries and keys.

use super::{Geometry, Grads, Rows};
use crate::kernel::fused::attention::softmax::passed;
use crate::kernel::fused::products::{Into, Mat, product};
use crate::kernel::fused::simd::{LANES, Simd, get, kernel, map, sum};
use crate::kernel::{MASKED, PENALISED};

/// Buffers of one thread.
#[derive(Default)]
pub(crate) struct Scratch {
    kept: Vec<f32>,
    weights: Vec<f32>,
    slope: Vec<f32>,
}

/// The columns of a head, from row `row` on.
fn head<'a>(rows: &Rows<'a>, row: usize, column: usize) -> Mat<'a> {
    Mat::new(&rows.data[row * rows.stride + rows.offset + column..], rows.stride)
}

/// Forward; `weights` is empty if they are not to be kept. `out` [graphs * N, D].
pub(crate) fn forward(
    g: &Geometry<'_>,
    [q, keys, values]: [Rows<'_>; 3],
    weights: &mut [f32],
    out: &mut [f32],
    scratch: &mut Scratch,
) {
    let (n, m, d) = (g.n, g.m, g.d);
    let d_head = d / g.n_heads;
    scratch.weights.resize(n * m, 0.0);
    scratch.kept.resize(n * m, 0.0);
    for (graph, h) in g.graph_heads() {
        let at = (graph * g.n_heads + h) * n * m;
        let w = if weights.is_empty() { &mut scratch.weights[..] } else { &mut weights[at..at + n * m] };
        softmax_scores(g, graph, h, [q, keys], w);
        let mixed = if g.site.is_on() {
            keep(&mut scratch.kept, w, g.site.scale);
            &scratch.kept[..]
        } else {
            w
        };
        let (value, out) = (head(&values, graph * m, h * d_head), &mut out[graph * n * d + h * d_head..]);
        product([n, m, d_head], out, d, Into::Replace, Mat::new(mixed, m), value, 1.0);
    }
}

/// Backward; `dout` [graphs * N, D], `grads` overwritten.
pub(crate) fn backward(
    g: &Geometry<'_>,
    [q, keys, values]: [Rows<'_>; 3],
    weights: &[f32],
    dout: &[f32],
    grads: &mut Grads<'_>,
    scratch: &mut Scratch,
) {
    let (n, m, d) = (g.n, g.m, g.d);
    let d_head = d / g.n_heads;
    let scale = if g.site.is_on() { g.site.scale } else { 1.0 };
    scratch.weights.resize(n * m, 0.0);
    scratch.kept.resize(n * m, 0.0);
    scratch.slope.resize(n * m, 0.0);
    for (graph, h) in g.graph_heads() {
        let at = (graph * g.n_heads + h) * n * m;
        let (column, q_row, key_row) = (h * d_head, graph * n, graph * m);
        let w = if weights.is_empty() {
            softmax_scores(g, graph, h, [q, keys], &mut scratch.weights);
            &scratch.weights[..]
        } else {
            &weights[at..at + n * m]
        };
        keep(&mut scratch.kept, w, scale);
        let dout = Mat::new(&dout[q_row * d + column..], d);
        let value = head(&values, key_row, column);
        product([n, d_head, m], &mut scratch.slope, m, Into::Replace, dout, value.t(), 1.0);
        softmax_grad(&mut scratch.slope, w, scale, m);
        close_penalised(g, graph, &mut scratch.slope);
        let (kept, slope) = (Mat::new(&scratch.kept, m), Mat::new(&scratch.slope, m));
        let (dv, stride) = grads.values(key_row, column);
        product([m, n, d_head], dv, stride, Into::Replace, kept.t(), dout, 1.0);
        let (dq, stride) = grads.queries(q_row, column);
        product([n, m, d_head], dq, stride, Into::Replace, slope, head(&keys, key_row, column), g.scale);
        let (dk, stride) = grads.keys(key_row, column);
        product([m, n, d_head], dk, stride, Into::Replace, slope.t(), head(&q, q_row, column), g.scale);
    }
}

/// Stops the gradient of scores that a penalty replaced; `slope` is [N, M].
fn close_penalised(g: &Geometry<'_>, graph: usize, slope: &mut [f32]) {
    for (i, slope) in slope.chunks_exact_mut(g.m).enumerate() {
        let Some(bias) = g.bias_row(graph, i) else { return };
        for (slope, &bias) in slope.iter_mut().zip(bias) {
            *slope = if bias > PENALISED { *slope } else { 0.0 };
        }
    }
}

/// The signed attention weights of one head of one graph, [N, M].
fn softmax_scores(g: &Geometry<'_>, graph: usize, h: usize, [q, keys]: [Rows<'_>; 2], w: &mut [f32]) {
    let d_head = g.d / g.n_heads;
    let (q, keys) = (head(&q, graph * g.n, h * d_head), head(&keys, graph * g.m, h * d_head));
    product([g.n, d_head, g.m], w, g.m, Into::Replace, q, keys.t(), g.scale);
    softmax(w, g, graph, h);
}

kernel! {
    /// Softmax of each row of scores [N, M] in place, masked, and negated if dropout drops them.
    fn softmax(w: &mut [f32], g: &Geometry<'_>, graph: usize, h: usize) = softmax_body
}

#[inline(always)]
fn softmax_body<S: Simd>(s: S, w: &mut [f32], g: &Geometry<'_>, graph: usize, h: usize) {
    let lowest = s.splat(f32::NEG_INFINITY);
    for (i, w) in w.chunks_exact_mut(g.m).enumerate() {
        if let Some(bias) = g.bias_row(graph, i) {
            map!(s, w, [bias], |_, w, [bias]| {
                let penalty = s.select(s.gt(bias, s.splat(MASKED)), bias, lowest);
                s.select(s.gt(bias, s.splat(PENALISED)), s.add(w, bias), penalty)
            });
        }
        let mut top = lowest;
        for vector in 0..g.m.div_ceil(LANES) {
            // The zeros after the end of a row are no scores.
            let score = s.select(s.lanes(0, g.m - vector * LANES), get(s, w, vector), lowest);
            top = s.max(score, top);
        }
        let top = s.max_across::<1>(top);
        if s.first(top) == f32::NEG_INFINITY {
            w.fill(0.0);
            continue;
        }
        map!(s, w, [], |_, w, []| s.exp(s.sub(w, top)));
        let inverse = s.splat(1.0 / sum!(s, [w], |[w]| w));
        if g.site.is_on() {
            let (first, step) = (g.weight_index(graph, i, 0).wrapping_add(h as u32), g.n_heads as u32);
            map!(s, w, [], |at, w, []| {
                let index = s.count(first.wrapping_add(at as u32 * step), step, LANES as u32);
                let w = s.mul(w, inverse);
                s.select(g.site.keep_lanes(s, index), w, s.sub(s.zero(), w))
            });
        } else {
            map!(s, w, [], |_, w, []| s.mul(w, inverse));
        }
    }
}

kernel! {
    /// The weights that dropout kept, scaled; 0 for the others.
    fn keep(kept: &mut [f32], w: &[f32], scale: f32) = keep_body
}

#[inline(always)]
fn keep_body<S: Simd>(s: S, kept: &mut [f32], w: &[f32], scale: f32) {
    let scale = s.splat(scale);
    map!(s, kept, [w], |_, _, [w]| passed(s, w, w, scale));
}

kernel! {
    /// The gradient of the scores (before their scale) from that of the kept weights, in place: dw becomes w (dw - sum w dw).
    fn softmax_grad(dw: &mut [f32], w: &[f32], scale: f32, m: usize) = softmax_grad_body
}

#[inline(always)]
fn softmax_grad_body<S: Simd>(s: S, dw: &mut [f32], w: &[f32], scale: f32, m: usize) {
    let scale = s.splat(scale);
    for (dw, w) in dw.chunks_exact_mut(m).zip(w.chunks_exact(m)) {
        map!(s, dw, [w], |_, dw, [w]| passed(s, dw, w, scale));
        let mean = s.splat(sum!(s, [w, dw], |[w, dw]| s.mul(w, dw)));
        map!(s, dw, [w], |_, dw, [w]| s.mul(s.abs(w), s.sub(dw, mean)));
    }
}
