//! Softmax over one query's keys, for all heads at once: scores and weights are [keys, H].

use crate::kernel::fused::simd::{LANES, Simd};

/// Softmax of every head, in place.
#[inline(always)]
pub(crate) fn softmax<S: Simd>(s: S, w: &mut [f32], n_heads: usize) {
    match n_heads {
        8 => scale::<S, 8>(s, w),
        4 => scale::<S, 4>(s, w),
        16 => scale::<S, 16>(s, w),
        _ => strided(s, w, n_heads),
    }
}

/// [`softmax`] of H heads, a constant; they repeat in every vector.
#[inline(always)]
fn scale<S: Simd, const H: usize>(s: S, w: &mut [f32]) {
    let inverse = exponentials::<S, H>(s, w);
    let (whole, rest) = w.as_chunks_mut::<LANES>();
    for w in whole {
        let v = s.mul(s.load(w), inverse);
        s.store(v, w);
    }
    if !rest.is_empty() {
        let v = s.mul(s.load_part(rest), inverse);
        s.store_part(v, rest);
    }
}

/// exp(score - largest of the head) in place; returns 1 / sum of each head, repeated.
#[inline(always)]
pub(crate) fn exponentials<S: Simd, const H: usize>(s: S, w: &mut [f32]) -> S::V {
    let lowest = s.splat(f32::NEG_INFINITY);
    let (whole, rest) = w.as_chunks_mut::<LANES>();
    let last = s.select(s.lanes(0, rest.len()), s.load_part(rest), lowest);
    let mut top = last;
    for w in whole.iter() {
        top = s.max(s.load(w), top);
    }
    let top = s.max_across::<H>(top);
    let mut total = s.zero();
    for w in whole {
        let e = s.exp(s.sub(s.load(w), top));
        total = s.add(total, e);
        s.store(e, w);
    }
    if !rest.is_empty() {
        let e = s.exp(s.sub(last, top));
        total = s.add(total, e);
        s.store_part(e, rest);
    }
    s.div(s.splat(1.0), s.across::<H>(total))
}

/// [`softmax`] of any number of heads, up to 16 at a time.
#[inline(always)]
fn strided<S: Simd>(s: S, w: &mut [f32], n_heads: usize) {
    for first in (0..n_heads).step_by(LANES) {
        let heads = first..n_heads.min(first + LANES);
        let mut top = s.splat(f32::NEG_INFINITY);
        for row in w.chunks_exact(n_heads) {
            top = s.max(s.load_part(&row[heads.clone()]), top);
        }
        let mut total = s.zero();
        for row in w.chunks_exact_mut(n_heads) {
            let row = &mut row[heads.clone()];
            let e = s.exp(s.sub(s.load_part(row), top));
            total = s.add(total, e);
            s.store_part(e, row);
        }
        let inverse = s.div(s.splat(1.0), total);
        for row in w.chunks_exact_mut(n_heads) {
            let row = &mut row[heads.clone()];
            let v = s.mul(s.load_part(row), inverse);
            s.store_part(v, row);
        }
    }
}

/// The gradient of the scores from that of the weights that dropout kept, in place. Negative weights are those it dropped.
///
/// With g = dw * keep_scale where a weight was kept, else 0: ds = |w| (g - sum w g) * scale.
#[inline(always)]
pub(crate) fn softmax_grad<S: Simd>(s: S, dw: &mut [f32], w: &[f32], n_heads: usize, keep_scale: f32, scale: f32) {
    let scales = [s.splat(keep_scale), s.splat(scale)];
    match n_heads {
        8 => grad::<S, 8>(s, dw, w, scales),
        4 => grad::<S, 4>(s, dw, w, scales),
        16 => grad::<S, 16>(s, dw, w, scales),
        _ => {
            for first in (0..n_heads).step_by(LANES) {
                let heads = first..n_heads.min(first + LANES);
                let mut mean = s.zero();
                for (dw, w) in dw.chunks_exact_mut(n_heads).zip(w.chunks_exact(n_heads)) {
                    let (dw, w) = (&mut dw[heads.clone()], s.load_part(&w[heads.clone()]));
                    let g = passed(s, s.load_part(dw), w, scales[0]);
                    mean = s.fma(w, g, mean);
                    s.store_part(g, dw);
                }
                for (dw, w) in dw.chunks_exact_mut(n_heads).zip(w.chunks_exact(n_heads)) {
                    let (dw, w) = (&mut dw[heads.clone()], s.load_part(&w[heads.clone()]));
                    let ds = slope(s, s.load_part(dw), w, mean, scales[1]);
                    s.store_part(ds, dw);
                }
            }
        }
    }
}

/// [`softmax_grad`] of H heads, a constant; they repeat in every vector.
#[inline(always)]
fn grad<S: Simd, const H: usize>(s: S, dw: &mut [f32], w: &[f32], [keep_scale, scale]: [S::V; 2]) {
    let ((dw, dw_rest), (w, w_rest)) = (dw.as_chunks_mut::<LANES>(), w.as_chunks::<LANES>());
    let mut mean = s.zero();
    for (dw, w) in dw.iter_mut().zip(w) {
        let w = s.load(w);
        let g = passed(s, s.load(dw), w, keep_scale);
        mean = s.fma(w, g, mean);
        s.store(g, dw);
    }
    let last = passed(s, s.load_part(dw_rest), s.load_part(w_rest), keep_scale);
    let mean = s.across::<H>(s.fma(s.load_part(w_rest), last, mean));
    for (dw, w) in dw.iter_mut().zip(w) {
        let ds = slope(s, s.load(dw), s.load(w), mean, scale);
        s.store(ds, dw);
    }
    if !dw_rest.is_empty() {
        s.store_part(slope(s, last, s.load_part(w_rest), mean, scale), dw_rest);
    }
}

/// dw * keep_scale for a weight that dropout kept, else 0.
#[inline(always)]
pub(crate) fn passed<S: Simd>(s: S, dw: S::V, w: S::V, keep_scale: S::V) -> S::V {
    s.select(s.gt(w, s.zero()), s.mul(dw, keep_scale), s.zero())
}

#[inline(always)]
fn slope<S: Simd>(s: S, g: S::V, w: S::V, mean: S::V, scale: S::V) -> S::V {
    s.mul(s.mul(s.abs(w), s.sub(g, mean)), scale)
}
