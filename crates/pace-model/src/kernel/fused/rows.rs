//! Loops over rows: layer norm, residual and dropout, ReLU, and their gradients.

use crate::kernel::dropout::Site;
use crate::kernel::fused::simd::{Simd, kernel, map, sum};

kernel! {
    /// y = x + drop(y + bias) in place, row by row; `first` is the index of the first element in the whole tensor.
    fn residual(y: &mut [f32], x: &[f32], bias: &[f32], site: Site, first: usize) = residual_body
}

#[inline(always)]
fn residual_body<S: Simd>(s: S, y: &mut [f32], x: &[f32], bias: &[f32], site: Site, first: usize) {
    let d = bias.len();
    for (row, (y, x)) in y.chunks_exact_mut(d).zip(x.chunks_exact(d)).enumerate() {
        let first = first + row * d;
        if site.is_on() {
            map!(s, y, [x, bias], |at, y, [x, bias]| s.fma(s.add(y, bias), site.factors(s, first + at), x));
        } else {
            map!(s, y, [x, bias], |_, y, [x, bias]| s.add(y, s.add(x, bias)));
        }
    }
}

kernel! {
    /// y += x.
    fn add(y: &mut [f32], x: &[f32]) = add_body
}

#[inline(always)]
fn add_body<S: Simd>(s: S, y: &mut [f32], x: &[f32]) {
    map!(s, y, [x], |_, y, [x]| s.add(y, x));
}

kernel! {
    /// y = drop(x), also the gradient of dropout.
    fn dropped(y: &mut [f32], x: &[f32], site: Site, first: usize) = dropped_body
}

#[inline(always)]
fn dropped_body<S: Simd>(s: S, y: &mut [f32], x: &[f32], site: Site, first: usize) {
    if site.is_on() {
        map!(s, y, [x], |at, _, [x]| s.mul(x, site.factors(s, first + at)));
    } else {
        y.copy_from_slice(x);
    }
}

kernel! {
    /// h = drop(relu(h + bias)) in place, row by row.
    fn relu_dropped(h: &mut [f32], bias: &[f32], site: Site, first: usize) = relu_dropped_body
}

#[inline(always)]
fn relu_dropped_body<S: Simd>(s: S, h: &mut [f32], bias: &[f32], site: Site, first: usize) {
    for (row, h) in h.chunks_exact_mut(bias.len()).enumerate() {
        let first = first + row * bias.len();
        if site.is_on() {
            map!(s, h, [bias], |at, h, [bias]| { s.mul(s.max(s.add(h, bias), s.zero()), site.factors(s, first + at)) });
        } else {
            map!(s, h, [bias], |_, h, [bias]| s.max(s.add(h, bias), s.zero()));
        }
    }
}

kernel! {
    /// Gradient of [`relu_dropped`] in place, from its result: an element is positive exactly if it passed ReLU and was kept.
    fn relu_dropped_grad(dh: &mut [f32], h: &[f32], site: Site) = relu_dropped_grad_body
}

#[inline(always)]
fn relu_dropped_grad_body<S: Simd>(s: S, dh: &mut [f32], h: &[f32], site: Site) {
    let scale = s.splat(site.kept_scale());
    map!(s, dh, [h], |_, dh, [h]| s.select(s.gt(h, s.zero()), s.mul(dh, scale), s.zero()));
}

kernel! {
    /// Layer norm of each row of x, which becomes the normalised xhat; y = xhat * gamma + beta.
    ///
    /// Shapes: x and y [rows, D], rstd `[rows]` (1 / standard deviation), gamma and beta `[D]`.
    fn norm(x: &mut [f32], y: &mut [f32], rstd: &mut [f32], gamma: &[f32], beta: &[f32], epsilon: f32) = norm_body
}

#[inline(always)]
fn norm_body<S: Simd>(s: S, x: &mut [f32], y: &mut [f32], rstd: &mut [f32], gamma: &[f32], beta: &[f32], epsilon: f32) {
    let d = gamma.len();
    for ((x, y), rstd) in x.chunks_mut(TOGETHER * d).zip(y.chunks_mut(TOGETHER * d)).zip(rstd.chunks_mut(TOGETHER)) {
        let (means, scales) = moments(s, x, d, epsilon);
        let rows = x.chunks_exact_mut(d).zip(y.chunks_exact_mut(d)).zip(means.iter().zip(&scales)).zip(rstd);
        for (((x, y), (mean, scale)), rstd) in rows {
            *rstd = *scale;
            let (mean, scale) = (s.splat(*mean), s.splat(*scale));
            map!(s, x, [], |_, x, []| s.mul(s.sub(x, mean), scale));
            map!(s, y, [x, gamma, beta], |_, _, [x, gamma, beta]| s.fma(x, gamma, beta));
        }
    }
}

/// Rows that are normalised side by side, because the sums and the root of one row are instructions that wait for each other.
const TOGETHER: usize = 4;

/// Mean and 1 / standard deviation of each of at most [`TOGETHER`] rows.
#[inline(always)]
fn moments<S: Simd>(s: S, x: &[f32], d: usize, epsilon: f32) -> ([f32; TOGETHER], [f32; TOGETHER]) {
    let inverse = 1.0 / d as f32;
    let (mut means, mut scales) = ([0.0; TOGETHER], [0.0; TOGETHER]);
    for (mean, x) in means.iter_mut().zip(x.chunks_exact(d)) {
        *mean = sum!(s, [x], |[x]| x) * inverse;
    }
    for ((scale, mean), x) in scales.iter_mut().zip(&means).zip(x.chunks_exact(d)) {
        let mean = s.splat(*mean);
        let variance = sum!(s, [x], |[x]| {
            let x = s.sub(x, mean);
            s.mul(x, x)
        });
        *scale = 1.0 / (variance * inverse + epsilon).sqrt();
    }
    (means, scales)
}

kernel! {
    /// y = LN(x + y + bias) in place, row by row, which keeps nothing; the parameters are bias, gamma, beta.
    fn add_norm(y: &mut [f32], x: &[f32], params: [&[f32]; 3], epsilon: f32) = add_norm_body
}

#[inline(always)]
fn add_norm_body<S: Simd>(s: S, y: &mut [f32], x: &[f32], [bias, gamma, beta]: [&[f32]; 3], epsilon: f32) {
    let d = bias.len();
    for (y, x) in y.chunks_mut(TOGETHER * d).zip(x.chunks(TOGETHER * d)) {
        for (y, x) in y.chunks_exact_mut(d).zip(x.chunks_exact(d)) {
            map!(s, y, [x, bias], |_, y, [x, bias]| s.add(y, s.add(x, bias)));
        }
        let (means, scales) = moments(s, y, d, epsilon);
        for (y, (mean, scale)) in y.chunks_exact_mut(d).zip(means.iter().zip(&scales)) {
            let (mean, scale) = (s.splat(*mean), s.splat(*scale));
            map!(s, y, [gamma, beta], |_, y, [gamma, beta]| s.fma(s.mul(s.sub(y, mean), scale), gamma, beta));
        }
    }
}

kernel! {
    /// Gradient of [`norm`]: dy becomes dx in place; dgamma and dbeta are added to.
    ///
    /// With t = dy * gamma: dx = rstd (t - mean(t) - xhat mean(t xhat)).
    fn norm_grad(
        dy: &mut [f32],
        xhat: &[f32],
        rstd: &[f32],
        gamma: &[f32],
        dgamma: &mut [f32],
        dbeta: &mut [f32],
    ) = norm_grad_body
}

#[inline(always)]
fn norm_grad_body<S: Simd>(
    s: S,
    dy: &mut [f32],
    xhat: &[f32],
    rstd: &[f32],
    gamma: &[f32],
    dgamma: &mut [f32],
    dbeta: &mut [f32],
) {
    let d = gamma.len();
    let inverse = 1.0 / d as f32;
    for ((dy, xhat), rstd) in dy.chunks_exact_mut(d).zip(xhat.chunks_exact(d)).zip(rstd) {
        map!(s, dgamma, [dy, xhat], |_, dgamma, [dy, xhat]| s.fma(dy, xhat, dgamma));
        map!(s, dbeta, [dy], |_, dbeta, [dy]| s.add(dbeta, dy));
        map!(s, dy, [gamma], |_, dy, [gamma]| s.mul(dy, gamma));
        let mean = s.splat(sum!(s, [dy], |[dy]| dy) * inverse);
        let slope = s.splat(sum!(s, [dy, xhat], |[dy, xhat]| s.mul(dy, xhat)) * -inverse);
        let rstd = s.splat(*rstd);
        map!(s, dy, [xhat], |_, dy, [xhat]| s.mul(s.fma(xhat, slope, s.sub(dy, mean)), rstd));
    }
}

kernel! {
    /// The gradient of a bias: total += the sum of the rows of dy [rows, D].
    fn add_rows(total: &mut [f32], dy: &[f32]) = add_rows_body
}

#[inline(always)]
fn add_rows_body<S: Simd>(s: S, total: &mut [f32], dy: &[f32]) {
    for row in dy.chunks_exact(total.len()) {
        map!(s, total, [row], |_, total, [dy]| s.add(total, dy));
    }
}
