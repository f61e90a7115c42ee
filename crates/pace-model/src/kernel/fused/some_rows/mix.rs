//! The loops over the keys of the rows that are read.

use std::ops::Range;

use super::{Saved, SomeRows};
use crate::kernel::fused::attention::{softmax, softmax_grad};
use crate::kernel::fused::simd::{Simd, add_scaled, dot, kernel};

/// Where the gradients of the rows of a group go.
pub(crate) struct Target<'t> {
    pub(super) dx: &'t mut [f32],
    /// The first row.
    pub(super) origin: usize,
    pub(super) d: usize,
}

impl Target<'_> {
    #[inline(always)]
    pub(super) fn row(&mut self, row: u32) -> &mut [f32] {
        &mut self.dx[(row as usize - self.origin) * self.d..][..self.d]
    }
}

kernel! {
    /// Scores, softmax and m: `u` [R, H, D] -> `weights` [pairs, H], `m` [R, H, D] and `mass` [R, H].
    fn mix(
        r: &SomeRows<'_>,
        reads: &Range<usize>,
        x: &[f32],
        u: &[f32],
        weights: &mut [f32],
        m: &mut [f32],
        mass: &mut [f32],
    ) = mix_body
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn mix_body<S: Simd>(
    s: S,
    r: &SomeRows<'_>,
    reads: &Range<usize>,
    x: &[f32],
    u: &[f32],
    weights: &mut [f32],
    m: &mut [f32],
    mass: &mut [f32],
) {
    let (d, n_heads, site) = (r.d, r.n_heads, r.sites.weights);
    let mut rest = weights;
    m.fill(0.0);
    mass.fill(0.0);
    for (index, read) in reads.clone().enumerate() {
        let keys = r.reads.keys(read);
        let (w, others) = std::mem::take(&mut rest).split_at_mut(keys.len() * n_heads);
        rest = others;
        let u = &u[index * n_heads * d..][..n_heads * d];
        let (m, mass) = (&mut m[index * n_heads * d..][..n_heads * d], &mut mass[index * n_heads..][..n_heads]);
        for (w, &key) in w.chunks_exact_mut(n_heads).zip(keys) {
            let x = &x[key as usize * d..][..d];
            for (w, u) in w.iter_mut().zip(u.chunks_exact(d)) {
                *w = s.total(dot(s, u, x));
            }
        }
        softmax(s, w, n_heads);
        for ((w, &key), &pair) in w.chunks_exact_mut(n_heads).zip(keys).zip(r.reads.pairs(read)) {
            let x = &x[key as usize * d..][..d];
            let first = (pair as usize * n_heads) as u32;
            for (head, w) in w.iter_mut().enumerate() {
                let kept = *w * if site.is_on() { site.factor(first.wrapping_add(head as u32)) } else { 1.0 };
                *w = if kept > 0.0 { *w } else { -*w };
                mass[head] += kept;
                add_scaled(s, &mut m[head * d..][..d], s.splat(kept), x);
            }
        }
    }
}

kernel! {
    /// The gradient of [`mix`]: `dm` [R, H, D] and `dmass` [R, H] -> `du` [R, H, D], and adds to the rows of the keys.
    fn mix_grad(
        r: &SomeRows<'_>,
        saved: &Saved,
        x: &[f32],
        dm: &[f32],
        dmass: &[f32],
        du: &mut [f32],
        target: &mut Target<'_>,
    ) = mix_grad_body
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn mix_grad_body<S: Simd>(
    s: S,
    r: &SomeRows<'_>,
    saved: &Saved,
    x: &[f32],
    dm: &[f32],
    dmass: &[f32],
    du: &mut [f32],
    target: &mut Target<'_>,
) {
    let (d, n_heads, site) = (r.d, r.n_heads, r.sites.weights);
    let keep_scale = site.kept_scale();
    let (mut rest, mut dscores) = (&saved.weights[..], Vec::new());
    du.fill(0.0);
    for (index, read) in saved.reads.clone().enumerate() {
        let keys = r.reads.keys(read);
        let (w, others) = rest.split_at(keys.len() * n_heads);
        rest = others;
        let part = index * n_heads * d..(index + 1) * n_heads * d;
        let (u, dm, du) = (&saved.u[part.clone()], &dm[part.clone()], &mut du[part]);
        let dmass = &dmass[index * n_heads..][..n_heads];
        dscores.resize(w.len(), 0.0);
        for (dw, &key) in dscores.chunks_exact_mut(n_heads).zip(keys) {
            let x = &x[key as usize * d..][..d];
            for ((dw, dm), dmass) in dw.iter_mut().zip(dm.chunks_exact(d)).zip(dmass) {
                *dw = s.total(dot(s, dm, x)) + dmass;
            }
        }
        softmax_grad(s, &mut dscores, w, n_heads, keep_scale, 1.0);
        for ((ds, w), &key) in dscores.chunks_exact(n_heads).zip(w.chunks_exact(n_heads)).zip(keys) {
            let (x, dx) = (&x[key as usize * d..][..d], target.row(key));
            for head in 0..n_heads {
                let head_part = head * d..(head + 1) * d;
                add_scaled(s, dx, s.splat(w[head].max(0.0) * keep_scale), &dm[head_part.clone()]);
                add_scaled(s, dx, s.splat(ds[head]), &u[head_part.clone()]);
                add_scaled(s, &mut du[head_part], s.splat(ds[head]), x);
            }
        }
    }
}
