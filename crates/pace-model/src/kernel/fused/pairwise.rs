//! Attention pair by pair: the loops over one query's keys, heads side by side, for kernels that gather their keys.

use std::hint::black_box;

use super::simd::{exp, fma, sum_by};

/// The product of two rows head by head, scaled, `[H]`.
#[inline(always)]
pub(crate) fn dots<const FMA: bool>(out: &mut [f32], a: &[f32], b: &[f32], d_head: usize, scale: f32) {
    let heads = a.chunks_exact(d_head).zip(b.chunks_exact(d_head));
    for (out, (a, b)) in out.iter_mut().zip(heads) {
        one_head_at_a_time();
        *out = sum_by(a, b, |a, b| a * b) * scale;
    }
}

/// y += f(w_h) x for every head h.
#[inline(always)]
pub(crate) fn add_scaled<const FMA: bool>(y: &mut [f32], w: &[f32], x: &[f32], d_head: usize, f: impl Fn(f32) -> f32) {
    let heads = y.chunks_exact_mut(d_head).zip(x.chunks_exact(d_head));
    for ((y, x), &w) in heads.zip(w) {
        one_head_at_a_time();
        let w = f(w);
        for (y, &x) in y.iter_mut().zip(x) {
            *y = fma::<FMA>(w, x, *y);
        }
    }
}

/// Keeps the compiler from vectorising a loop over heads. The loop over a head's numbers is unrolled before it looks for
/// vectors, and then it would do 8 heads side by side, with a gather per number. Costs no instruction.
#[inline(always)]
fn one_head_at_a_time() {
    black_box(());
}

/// Softmax of every head over scores [keys, H], in place.
#[inline(always)]
pub(crate) fn softmax<const FMA: bool>(w: &mut [f32], n_heads: usize) {
    // Heads in groups of lanes; a group reads and writes its lanes of every key and no others.
    let mut head = 0;
    while head + 8 <= n_heads {
        softmax_lanes::<8, FMA>(w, head, n_heads);
        head += 8;
    }
    for head in head..n_heads {
        softmax_lanes::<1, FMA>(w, head, n_heads);
    }
}

/// [`softmax`] of L heads from `head` on.
#[inline(always)]
fn softmax_lanes<const L: usize, const FMA: bool>(w: &mut [f32], head: usize, n_heads: usize) {
    let mut top = [f32::NEG_INFINITY; L];
    for row in w.chunks_exact(n_heads) {
        let row = lanes::<L>(row, head);
        top = std::array::from_fn(|lane| if row[lane] > top[lane] { row[lane] } else { top[lane] });
    }
    let mut total = [0.0; L];
    for row in w.chunks_exact_mut(n_heads) {
        let scores = lanes::<L>(row, head);
        let e: [f32; L] = std::array::from_fn(|lane| exp::<FMA>(scores[lane] - top[lane]));
        total = std::array::from_fn(|lane| total[lane] + e[lane]);
        row[head..head + L].copy_from_slice(&e);
    }
    let inverse = total.map(|total| 1.0 / total);
    for row in w.chunks_exact_mut(n_heads) {
        let e = lanes::<L>(row, head);
        let e: [f32; L] = std::array::from_fn(|lane| e[lane] * inverse[lane]);
        row[head..head + L].copy_from_slice(&e);
    }
}

/// The gradient of the scores from that of the weights dropout kept, [keys, H], in place.
#[inline(always)]
pub(crate) fn softmax_grad<const FMA: bool>(dw: &mut [f32], w: &[f32], n_heads: usize, keep_scale: f32, scale: f32) {
    let mut head = 0;
    while head + 8 <= n_heads {
        softmax_grad_lanes::<8, FMA>(dw, w, [head, n_heads], keep_scale, scale);
        head += 8;
    }
    for head in head..n_heads {
        softmax_grad_lanes::<1, FMA>(dw, w, [head, n_heads], keep_scale, scale);
    }
}

/// [`softmax_grad`] of L heads from `head` on.
#[inline(always)]
fn softmax_grad_lanes<const L: usize, const FMA: bool>(
    dw: &mut [f32],
    w: &[f32],
    [head, n_heads]: [usize; 2],
    keep_scale: f32,
    scale: f32,
) {
    let mut mean = [0.0; L];
    for (dw, w) in dw.chunks_exact_mut(n_heads).zip(w.chunks_exact(n_heads)) {
        let (g, w) = (lanes::<L>(dw, head), lanes::<L>(w, head));
        // Negative weights are those that were dropped: nothing comes back through them.
        let g: [f32; L] = std::array::from_fn(|lane| if w[lane] > 0.0 { g[lane] * keep_scale } else { 0.0 });
        mean = std::array::from_fn(|lane| fma::<FMA>(w[lane], g[lane], mean[lane]));
        dw[head..head + L].copy_from_slice(&g);
    }
    for (dw, w) in dw.chunks_exact_mut(n_heads).zip(w.chunks_exact(n_heads)) {
        let (g, w) = (lanes::<L>(dw, head), lanes::<L>(w, head));
        let g: [f32; L] = std::array::from_fn(|lane| w[lane].abs() * (g[lane] - mean[lane]) * scale);
        dw[head..head + L].copy_from_slice(&g);
    }
}

/// L heads of one key, by value: see [`super::lanes`] for why.
#[inline(always)]
fn lanes<const L: usize>(row: &[f32], head: usize) -> [f32; L] {
    row[head..head + L].try_into().expect("a slice of L")
}
