//! Attention of small graphs with the heads as SIMD lanes.
//!
//! With columns ordered (position in head, head), the H values that belong together across heads lie side by side, and
//! every step of attention - scores, softmax, mixing, and their gradients - is the same scalar program run in H lanes: no
//! transposed copies, no padding, no horizontal sums. The mask is shared by the heads, so a forbidden pair is skipped
//! altogether, which on the ancestor masks of DAGs is half of the work.

use super::attend::{Geometry, Grads, Rows};
use super::simd::{exp, fma};

/// The heads' values at one position.
pub(crate) type Lanes<const H: usize> = [f32; H];

/// Row `row` as D/H groups of lanes.
#[inline(always)]
fn row<'a, const H: usize>(rows: &Rows<'a>, row: usize, d_head: usize) -> &'a [Lanes<H>] {
    let start = row * rows.stride + rows.offset;
    rows.data[start..start + d_head * H].as_chunks::<H>().0
}

/// The first d values as groups of lanes.
#[inline(always)]
fn lanes<const H: usize>(values: &mut [f32], d: usize) -> &mut [Lanes<H>] {
    values[..d].as_chunks_mut::<H>().0
}

/// f of every lane. Lanes go in and out by value: a store between the loads of two lanes would keep them from being one
/// vector, for the compiler cannot know that the rows do not overlap.
#[inline(always)]
fn each<const H: usize>(a: Lanes<H>, b: Lanes<H>, f: impl Fn(f32, f32) -> f32) -> Lanes<H> {
    let mut out = [0.0; H];
    for lane in 0..H {
        out[lane] = f(a[lane], b[lane]);
    }
    out
}

/// a * b + c, lane by lane.
#[inline(always)]
fn mul_add<const H: usize, const FMA: bool>(a: Lanes<H>, b: Lanes<H>, c: Lanes<H>) -> Lanes<H> {
    let mut out = [0.0; H];
    for lane in 0..H {
        out[lane] = fma::<FMA>(a[lane], b[lane], c[lane]);
    }
    out
}

#[inline(always)]
fn dot<const H: usize, const FMA: bool>(a: &[Lanes<H>], b: &[Lanes<H>]) -> Lanes<H> {
    let mut total = [0.0; H];
    for (a, b) in a.iter().zip(b) {
        total = mul_add::<H, FMA>(*a, *b, total);
    }
    total
}

/// y += w * x, lane by lane.
#[inline(always)]
fn axpy<const H: usize, const FMA: bool>(y: &mut [Lanes<H>], w: Lanes<H>, x: &[Lanes<H>]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = mul_add::<H, FMA>(w, *x, *y);
    }
}

/// Forward over the graphs of a block.
///
/// `weights` [graphs, N, M, H] receives the softmax, negated where dropout drops it, so that backward reads both from
/// one number; `out` is [graphs * N, D], both in lane order.
#[inline(always)]
pub(crate) fn forward<const H: usize, const FMA: bool>(
    g: &Geometry<'_>,
    d_head: usize,
    [q, keys, values]: [Rows<'_>; 3],
    weights: &mut [f32],
    out: &mut [f32],
    allowed: &mut Vec<usize>,
) {
    let (n, m) = (g.n, g.m);
    for graph in 0..g.graphs {
        for i in 0..n {
            let r = graph * n + i;
            let bias = g.allowed(graph, i, allowed);
            let qi = row::<H>(&q, r, d_head);
            let w = weights[r * m * H..(r + 1) * m * H].as_chunks_mut::<H>().0;
            let out = out[r * d_head * H..(r + 1) * d_head * H].as_chunks_mut::<H>().0;
            out.fill([0.0; H]);
            if allowed.len() < m {
                w.fill([0.0; H]);
            }
            let mut top = [f32::NEG_INFINITY; H];
            for &j in allowed.iter() {
                let s = dot::<H, FMA>(qi, row::<H>(&keys, graph * m + j, d_head));
                let bias = bias.map_or(0.0, |bias| bias[j]);
                let scale = g.score_scale(bias);
                let s = each(s, s, |s, _| s * scale + bias);
                top = each(s, top, |s, top| if s > top { s } else { top });
                w[j] = s;
            }
            let mut total = [0.0; H];
            for &j in allowed.iter() {
                let e = each(w[j], top, |s, top| exp::<FMA>(s - top));
                total = each(total, e, |total, e| total + e);
                w[j] = e;
            }
            let inverse = total.map(|total| 1.0 / total);
            for &j in allowed.iter() {
                let p = each(w[j], inverse, |e, inverse| e * inverse);
                let (mut signed, mut kept) = (p, p);
                if g.site.is_on() {
                    let index = g.weight_index(graph, i, j);
                    let keep: [bool; H] = std::array::from_fn(|lane| g.site.keep(index.wrapping_add(lane as u32)));
                    for lane in 0..H {
                        kept[lane] = if keep[lane] { p[lane] * g.site.scale } else { 0.0 };
                        signed[lane] = if keep[lane] { p[lane] } else { -p[lane] };
                    }
                }
                w[j] = signed;
                axpy::<H, FMA>(out, kept, row::<H>(&values, graph * m + j, d_head));
            }
        }
    }
}

/// One query along a list of keys, without dropout and keeping nothing: `q` `[D]` over the rows `list`, counted from `origin`, of
/// keys and values side by side, [rows, 2D], all in lane order -> `out` `[D]`. `weights` is scratch, one for each key.
///
/// W lanes are several positions side by side, so that a vector is full, and G such vectors at a time stay in registers while
/// the keys pass by; D is a multiple of G W, W of H.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn along<const H: usize, const W: usize, const G: usize, const FMA: bool>(
    q: &[f32],
    list: &[u32],
    origin: usize,
    d: usize,
    kv: &[f32],
    out: &mut [f32],
    weights: &mut [Lanes<H>],
) {
    let part =
        |key: u32, part: usize, first: usize| group::<W, G>(&kv[(2 * (key as usize - origin) + part) * d + first..]);
    let scale = 1.0 / ((d / H) as f32).sqrt();
    weights.fill([0.0; H]);
    for first in (0..d).step_by(G * W) {
        let q = group::<W, G>(&q[first..]);
        let mut own = [[0.0; W]; G];
        for g in 0..G {
            own[g] = each(q[g], q[g], |q, _| q * scale);
        }
        for (w, &key) in weights.iter_mut().zip(list) {
            let key = part(key, 0, first);
            let mut total = [0.0; W];
            for g in 0..G {
                total = mul_add::<W, FMA>(own[g], key[g], total);
            }
            for positions in total.as_chunks::<H>().0 {
                *w = each(*w, *positions, |score, product| score + product);
            }
        }
    }
    let (mut top, mut total) = ([f32::NEG_INFINITY; H], [0.0; H]);
    for w in weights.iter() {
        top = each(*w, top, |s, top| if s > top { s } else { top });
    }
    // The first columns are mixed while the exponentials are on their way.
    let mut mixed = [[0.0; W]; G];
    for (w, &key) in weights.iter_mut().zip(list) {
        *w = each(*w, top, |s, top| exp::<FMA>(s - top));
        total = each(total, *w, |total, e| total + e);
        mixed = add_value::<H, W, G, FMA>(mixed, *w, part(key, 1, 0));
    }
    let mut inverse = [0.0; W];
    inverse.as_chunks_mut::<H>().0.fill(total.map(|total| 1.0 / total));
    for first in (0..d).step_by(G * W) {
        if first > 0 {
            mixed = [[0.0; W]; G];
            for (w, &key) in weights.iter().zip(list) {
                mixed = add_value::<H, W, G, FMA>(mixed, *w, part(key, 1, first));
            }
        }
        for (g, out) in lanes::<W>(&mut out[first..], G * W).iter_mut().enumerate() {
            *out = each(mixed[g], inverse, |mixed, inverse| mixed * inverse);
        }
    }
}

/// mixed + w value, with the lanes of w once for every position of a vector.
#[inline(always)]
fn add_value<const H: usize, const W: usize, const G: usize, const FMA: bool>(
    mut mixed: [Lanes<W>; G],
    w: Lanes<H>,
    value: &[Lanes<W>; G],
) -> [Lanes<W>; G] {
    let mut wide = [0.0; W];
    wide.as_chunks_mut::<H>().0.fill(w);
    for g in 0..G {
        mixed[g] = mul_add::<W, FMA>(wide, value[g], mixed[g]);
    }
    mixed
}

/// The first G vectors of W lanes.
#[inline(always)]
fn group<const W: usize, const G: usize>(values: &[f32]) -> &[Lanes<W>; G] {
    values[..G * W].as_chunks::<W>().0.try_into().expect("G vectors")
}

/// Backward over the graphs of a block, from the weights [`forward`] kept.
///
/// `dout` [graphs * N, D] in lane order, as `grads`, which are overwritten.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn backward<const H: usize, const FMA: bool>(
    g: &Geometry<'_>,
    d_head: usize,
    [q, keys, values]: [Rows<'_>; 3],
    weights: &[f32],
    dout: &[f32],
    grads: &mut Grads<'_>,
    allowed: &mut Vec<usize>,
    slope: &mut Vec<f32>,
) {
    let (n, m, d) = (g.n, g.m, d_head * H);
    let keep_scale = if g.site.is_on() { g.site.scale } else { 1.0 };
    slope.resize(m * H, 0.0);
    let slope = slope.as_chunks_mut::<H>().0;
    grads.clear();
    for graph in 0..g.graphs {
        for i in 0..n {
            let r = graph * n + i;
            let bias = g.allowed(graph, i, allowed);
            let qi = row::<H>(&q, r, d_head);
            let w = weights[r * m * H..(r + 1) * m * H].as_chunks::<H>().0;
            let dout = dout[r * d..(r + 1) * d].as_chunks::<H>().0;
            let mut mean = [0.0; H];
            for &j in allowed.iter() {
                let dw = dot::<H, FMA>(dout, row::<H>(&values, graph * m + j, d_head));
                let dw = each(dw, w[j], |dw, w| if w > 0.0 { dw * keep_scale } else { 0.0 });
                mean = mul_add::<H, FMA>(w[j], dw, mean);
                slope[j] = dw;
            }
            for &j in allowed.iter() {
                let scale = g.score_scale(bias.map_or(0.0, |bias| bias[j]));
                let slope = each(slope[j], mean, |slope, mean| (slope - mean) * scale);
                let ds = each(slope, w[j], |slope, w| w.abs() * slope);
                let kept = each(w[j], w[j], |w, _| if w > 0.0 { w * keep_scale } else { 0.0 });
                let key = graph * m + j;
                axpy::<H, FMA>(lanes(grads.queries(r, 0).0, d), ds, row::<H>(&keys, key, d_head));
                axpy::<H, FMA>(lanes(grads.keys(key, 0).0, d), ds, qi);
                axpy::<H, FMA>(lanes(grads.values(key, 0).0, d), kept, dout);
            }
        }
    }
}
