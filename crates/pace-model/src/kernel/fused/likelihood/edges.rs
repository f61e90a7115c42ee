//! The binary cross-entropy of edges, pair by pair.

use super::Sizes;
use crate::kernel::fused::simd::{LANES, Simd, get, kernel, map, put};

/// The edge classifier on a group of graphs.
#[derive(Clone, Copy)]
pub(crate) struct EdgeHead<'a> {
    pub(super) s: Sizes,
    /// Of every speaker its part as a target and its part as a source, [R, 2D].
    pub(super) halves: &'a [f32],
    /// The map to the logit, `[D]`.
    pub(super) out: &'a [f32],
}

/// The edges of a group of graphs.
#[derive(Clone, Copy)]
pub(crate) struct Edges<'a> {
    /// Nodes of each graph.
    pub(super) lengths: &'a [usize],
    /// [graphs, N, N], target before source.
    pub(super) edges: &'a [f32],
}

/// Gradients to add to: of the halves [R, 2D], of the map `[D]` and of its bias `[1]`.
pub(crate) struct EdgeGrads<'a> {
    pub(super) halves: &'a mut [f32],
    pub(super) out: &'a mut [f32],
    pub(super) bias: &'a mut [f32],
}

kernel! {
    /// The binary cross-entropy of every pair of nodes, added to the graph's nll, and its slope by the logit.
    ///
    /// The logit of edge j + 1 -> i + 1 is out . ReLU(target_i + source_j) + bias.
    fn link(head: EdgeHead<'_>, bias: f32, truth: Edges<'_>, slopes: &mut [f32], nll: &mut [f32]) = link_body
}

#[inline(always)]
fn link_body<S: Simd>(
    simd: S,
    EdgeHead { s, halves, out }: EdgeHead<'_>,
    bias: f32,
    Edges { lengths, edges }: Edges<'_>,
    slopes: &mut [f32],
    nll: &mut [f32],
) {
    let (n, d, width) = (s.n, s.d, s.speakers() * 2 * s.d);
    let mut rest = slopes;
    for (graph, (&length, nll)) in lengths.iter().zip(nll).enumerate() {
        let (halves, edges) = (&halves[graph * width..][..width], &edges[graph * n * n..][..n * n]);
        for i in 1..s.speakers() {
            let (slopes, others) = std::mem::take(&mut rest).split_at_mut(i);
            rest = others;
            if i + 1 >= length {
                slopes.fill(0.0);
                continue;
            }
            // First the logits of all sources, then everything else for sixteen of them at a time.
            let target = &halves[i * 2 * d..][..d];
            for (j, logit) in slopes.iter_mut().enumerate() {
                *logit = score(simd, target, &halves[(j * 2 + 1) * d..][..d], out) + bias;
            }
            let labels = &edges[(i + 1) * n + 1..][..i];
            let [zero, one] = [0.0, 1.0].map(|x| simd.splat(x));
            map!(simd, slopes, [labels], |at, logit, [label]| {
                let decay = simd.exp(simd.sub(zero, simd.abs(logit)));
                let positive = relu(simd, logit);
                let losses = simd.sub(positive, simd.mul(logit, label));
                let (mut parts, mut decays) = ([0.0; LANES], [0.0; LANES]);
                simd.store(losses, &mut parts);
                simd.store(decay, &mut decays);
                for (part, decay) in parts.iter().zip(&decays).take(i - at) {
                    *nll += part + decay.ln_1p();
                }
                let likely = simd.div(one, simd.add(one, decay));
                let likely = simd.select(simd.gt(zero, logit), simd.sub(one, likely), likely);
                simd.sub(likely, label)
            });
        }
    }
}

kernel! {
    /// The gradient of [`link`], added to `grads`.
    fn link_grad(head: EdgeHead<'_>, dnll: &[f32], slopes: &[f32], grads: EdgeGrads<'_>) = link_grad_body
}

#[inline(always)]
fn link_grad_body<S: Simd>(
    simd: S,
    EdgeHead { s, halves, out }: EdgeHead<'_>,
    dnll: &[f32],
    slopes: &[f32],
    EdgeGrads { halves: dhalves, out: dout, bias: dbias }: EdgeGrads<'_>,
) {
    let (d, width) = (s.d, s.speakers() * 2 * s.d);
    let (out, dout) = (&out[..d], &mut dout[..d]);
    let mut slopes = slopes.iter();
    for (graph, &dnll) in dnll.iter().enumerate() {
        let halves = &halves[graph * width..][..width];
        let dhalves = &mut dhalves[graph * width..][..width];
        for i in 1..s.speakers() {
            let target = &halves[i * 2 * d..][..d];
            // Sources come before their target.
            let (before, from) = dhalves.split_at_mut(i * 2 * d);
            let dtarget = &mut from[..d];
            for (j, slope) in (0..i).zip(&mut slopes) {
                let slope = slope * dnll;
                dbias[0] += slope;
                let (source, dsource) = (&halves[(j * 2 + 1) * d..][..d], &mut before[(j * 2 + 1) * d..][..d]);
                let (slope, zero) = (simd.splat(slope), simd.zero());
                for k in 0..d.div_ceil(LANES) {
                    let sum = simd.add(get(simd, target, k), get(simd, source, k));
                    put(simd, simd.fma(slope, relu(simd, sum), get(simd, dout, k)), dout, k);
                    let back = simd.select(simd.gt(sum, zero), simd.mul(slope, get(simd, out, k)), zero);
                    put(simd, simd.add(get(simd, dtarget, k), back), dtarget, k);
                    put(simd, simd.add(get(simd, dsource, k), back), dsource, k);
                }
            }
        }
    }
}

/// out . ReLU(target + source).
#[inline(always)]
fn score<S: Simd>(simd: S, target: &[f32], source: &[f32], out: &[f32]) -> f32 {
    let mut total = simd.zero();
    for k in 0..out.len().div_ceil(LANES) {
        let sum = simd.add(get(simd, target, k), get(simd, source, k));
        total = simd.fma(relu(simd, sum), get(simd, out, k), total);
    }
    simd.total(total)
}

/// A NaN stays one, so that a training that diverged is noticed.
#[inline(always)]
fn relu<S: Simd>(simd: S, x: S::V) -> S::V {
    simd.select(simd.gt(simd.zero(), x), simd.zero(), x)
}
