//! Attention of small graphs with the heads as lanes.
//!
//! The heads share the mask, so a forbidden pair is skipped for all of them: half of the work under the ancestor masks of DAGs.
//! Columns are in lane order, see [`ByLane`].

use super::{Geometry, Grads, Rows};
use crate::kernel::PENALISED;
use crate::kernel::fused::attention::gather::Terms;
use crate::kernel::fused::attention::order::{ByLane, Heads};
use crate::kernel::fused::attention::softmax::{passed, softmax};
use crate::kernel::fused::simd::{LANES, Simd, get, kernel, put};

/// Buffers of one thread.
#[derive(Default)]
pub(crate) struct Scratch {
    /// The keys a query may look at.
    keys: Vec<u32>,
    /// [keys, H] each: scores and weights forward; gradients of scores, and kept weights, backward.
    first: Vec<f32>,
    second: Vec<f32>,
}

/// Calls a kernel with the number of heads as a constant, and D. PACE runs 8 heads of 8: with the loop bounds known, a row stays
/// in registers.
macro_rules! with_sizes {
    ($g:ident, |$heads:ident, $d:ident| $call:expr) => {{
        macro_rules! call {
            ($n_heads:literal, $size:expr) => {{
                const $heads: usize = $n_heads;
                let $d = $size;
                $call
            }};
        }
        match ($g.n_heads, $g.d) {
            (8, 64) => call!(8, 64),
            (8, d) => call!(8, d),
            (4, d) => call!(4, d),
            (16, d) => call!(16, d),
            (n_heads, _) => unreachable!("{n_heads} heads have no lane kernel"),
        }
    }};
}

kernel! {
    /// Forward over the graphs of a chunk.
    ///
    /// `weights` [graphs, N, M, H] receives the softmax, negated if dropout drops it: so backward reads both from one number.
    /// `out` is [graphs * N, D]. Both are in lane order.
    fn forward(
        g: &Geometry<'_>,
        qkv: [Rows<'_>; 3],
        weights: &mut [f32],
        out: &mut [f32],
        scratch: &mut Scratch,
    ) = forward_body
}

#[inline(always)]
fn forward_body<S: Simd>(
    s: S,
    g: &Geometry<'_>,
    qkv: [Rows<'_>; 3],
    weights: &mut [f32],
    out: &mut [f32],
    scratch: &mut Scratch,
) {
    with_sizes!(g, |H, d| forward_of::<S, H>(s, g, d, qkv, weights, out, scratch));
}

#[inline(always)]
fn forward_of<S: Simd, const H: usize>(
    s: S,
    g: &Geometry<'_>,
    d: usize,
    [q, keys, values]: [Rows<'_>; 3],
    weights: &mut [f32],
    out: &mut [f32],
    scratch: &mut Scratch,
) {
    let (n, m) = (g.n, g.m);
    scratch.first.resize((m * H).next_multiple_of(LANES), 0.0);
    for (r, (out, weights)) in out.chunks_exact_mut(d).zip(weights.chunks_exact_mut(m * H)).enumerate() {
        let (graph, i) = (r / n, r % n);
        let bias = g.allowed(graph, i, &mut scratch.keys);
        let allowed = &scratch.keys[..];
        let w = &mut scratch.first[..allowed.len() * H];
        ByLane::<H>.scores(s, w, q.row(r, d), keys.gather(allowed, graph * m), g.scale);
        if let Some(bias) = bias {
            for (w, &j) in w.as_chunks_mut::<H>().0.iter_mut().zip(allowed) {
                let bias = bias[j as usize];
                // A penalty takes the place of the score.
                let kept = if bias > PENALISED { s.repeat::<H>(w) } else { s.zero() };
                s.store_part(s.add(kept, s.splat(bias)), w);
            }
        }
        softmax(s, w, H);
        if allowed.len() < m {
            weights.fill(0.0);
        }
        for (&j, w) in allowed.iter().zip(w.as_chunks_mut::<H>().0) {
            let j = j as usize;
            let kept = &mut weights[j * H..(j + 1) * H];
            if g.site.is_on() {
                let p = s.repeat::<H>(w);
                let keep = g.site.keep_lanes(s, s.count(g.weight_index(graph, i, j), 1, H as u32));
                s.store_part(s.select(keep, p, s.sub(s.zero(), p)), kept);
                s.store_part(s.select(keep, s.mul(p, s.splat(g.site.scale)), s.zero()), w);
            } else {
                kept.copy_from_slice(w);
            }
        }
        let rows = values.gather(allowed, graph * m);
        ByLane::<H>.mix::<_, false>(s, out, Terms { rows, weights: w, first: 0 }, 1.0);
    }
}

kernel! {
    /// Backward over the graphs of a chunk, from the weights that [`forward`] kept.
    ///
    /// `dout` [graphs * N, D] and `grads`, which are overwritten, are in lane order.
    fn backward(
        g: &Geometry<'_>,
        qkv: [Rows<'_>; 3],
        weights: &[f32],
        dout: &[f32],
        grads: &mut Grads<'_>,
        scratch: &mut Scratch,
    ) = backward_body
}

#[inline(always)]
fn backward_body<S: Simd>(
    s: S,
    g: &Geometry<'_>,
    qkv: [Rows<'_>; 3],
    weights: &[f32],
    dout: &[f32],
    grads: &mut Grads<'_>,
    scratch: &mut Scratch,
) {
    with_sizes!(g, |H, d| backward_of::<S, H>(s, g, d, qkv, weights, dout, grads, scratch));
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn backward_of<S: Simd, const H: usize>(
    s: S,
    g: &Geometry<'_>,
    d: usize,
    [q, keys, values]: [Rows<'_>; 3],
    weights: &[f32],
    dout: &[f32],
    grads: &mut Grads<'_>,
    scratch: &mut Scratch,
) {
    let (n, m) = (g.n, g.m);
    let keep_scale = s.splat(g.site.kept_scale());
    let Scratch { keys: allowed, first, second } = scratch;
    first.resize(m * H, 0.0);
    second.resize(m * H, 0.0);
    grads.clear();
    for (r, (dout, weights)) in dout.chunks_exact(d).zip(weights.chunks_exact(m * H)).enumerate() {
        let (graph, i) = (r / n, r % n);
        let bias = g.allowed(graph, i, allowed);
        let (allowed, dw) = (&allowed[..], &mut first[..allowed.len() * H]);
        ByLane::<H>.scores(s, dw, dout, values.gather(allowed, graph * m), 1.0);
        let weights = weights.as_chunks::<H>().0;
        let mut mean = s.zero();
        for (&j, dw) in allowed.iter().zip(dw.as_chunks::<H>().0) {
            let w = s.repeat::<H>(&weights[j as usize]);
            mean = s.fma(w, passed(s, s.repeat::<H>(dw), w, keep_scale), mean);
        }
        for ((&j, dw), kept) in allowed.iter().zip(dw.as_chunks_mut::<H>().0).zip(second.as_chunks_mut::<H>().0) {
            let bias = bias.map_or(0.0, |bias| bias[j as usize]);
            let (w, scale) = (s.repeat::<H>(&weights[j as usize]), s.splat(g.score_scale(bias)));
            let slope = s.mul(s.sub(passed(s, s.repeat::<H>(dw), w, keep_scale), mean), scale);
            s.store_part(s.mul(s.abs(w), slope), dw);
            s.store_part(passed(s, w, w, keep_scale), kept);
        }
        let parts = [q.row(r, d), dout];
        let rows = Pairs { keys: &keys, graph_row: graph * m, allowed, slopes: dw, kept: second, d, r };
        let mut vector = 0;
        if S::TILE_VECTORS >= 4 {
            while (vector + 4) * LANES <= d {
                rows.add::<S, H, 4>(s, vector, parts, grads);
                vector += 4;
            }
        }
        while (vector + 2) * LANES <= d {
            rows.add::<S, H, 2>(s, vector, parts, grads);
            vector += 2;
        }
        for vector in vector..d.div_ceil(LANES) {
            rows.add::<S, H, 1>(s, vector, parts, grads);
        }
    }
}

/// One query and the keys it looked at, with the gradients of its scores.
struct Pairs<'a> {
    keys: &'a Rows<'a>,
    /// The graph's first key.
    graph_row: usize,
    allowed: &'a [u32],
    /// [keys, H].
    slopes: &'a [f32],
    kept: &'a [f32],
    d: usize,
    /// The query's row.
    r: usize,
}

impl Pairs<'_> {
    /// G vectors of the gradients: dq = sum ds k, dk += ds q, dv += w dout.
    #[inline(always)]
    fn add<S: Simd, const H: usize, const G: usize>(
        &self,
        s: S,
        first: usize,
        [q, dout]: [&[f32]; 2],
        grads: &mut Grads<'_>,
    ) {
        let d = self.d;
        let (mut dq, mut qs, mut douts) = ([s.zero(); G], [s.zero(); G], [s.zero(); G]);
        for v in 0..G {
            (qs[v], douts[v]) = (get(s, q, first + v), get(s, dout, first + v));
        }
        let pairs = self.slopes.as_chunks::<H>().0.iter().zip(self.kept.as_chunks::<H>().0);
        for (&j, (ds, kept)) in self.allowed.iter().zip(pairs) {
            let (row, ds, kept) = (self.graph_row + j as usize, s.repeat::<H>(ds), s.repeat::<H>(kept));
            let key = self.keys.row(row, d);
            for (v, dq) in dq.iter_mut().enumerate() {
                *dq = s.fma(ds, get(s, key, first + v), *dq);
            }
            let dk = &mut grads.keys(row, 0).0[..d];
            for (v, q) in qs.iter().enumerate() {
                put(s, s.fma(ds, *q, get(s, dk, first + v)), dk, first + v);
            }
            let dv = &mut grads.values(row, 0).0[..d];
            for (v, dout) in douts.iter().enumerate() {
                put(s, s.fma(kept, *dout, get(s, dv, first + v)), dv, first + v);
            }
        }
        let out = &mut grads.queries(self.r, 0).0[..d];
        for (v, dq) in dq.into_iter().enumerate() {
            put(s, dq, out, first + v);
        }
    }
}
