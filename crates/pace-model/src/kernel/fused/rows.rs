//! Loops over rows: layer norm, residual and dropout, ReLU, and their gradients.

use super::simd::{multiversion, sum_by};
use crate::kernel::dropout::Site;

multiversion! {
    /// y = x + drop(y + bias) in place, row by row, where `first` is the index of the first element in the whole tensor.
    fn residual(y: &mut [f32], x: &[f32], bias: &[f32], site: Site, first: usize) = residual_body
}

#[inline(always)]
fn residual_body<const FMA: bool>(y: &mut [f32], x: &[f32], bias: &[f32], site: Site, first: usize) {
    let d = bias.len();
    for (row, (y, x)) in y.chunks_exact_mut(d).zip(x.chunks_exact(d)).enumerate() {
        let first = first + row * d;
        if site.is_on() {
            for (index, ((y, x), bias)) in y.iter_mut().zip(x).zip(bias).enumerate() {
                *y = x + (*y + bias) * site.factor((first + index) as u32);
            }
        } else {
            for ((y, x), bias) in y.iter_mut().zip(x).zip(bias) {
                *y += x + bias;
            }
        }
    }
}

multiversion! {
    /// y += x.
    fn add(y: &mut [f32], x: &[f32]) = add_body
}

#[inline(always)]
fn add_body<const FMA: bool>(y: &mut [f32], x: &[f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += x;
    }
}

multiversion! {
    /// y = drop(x), also the gradient of dropout.
    fn dropped(y: &mut [f32], x: &[f32], site: Site, first: usize) = dropped_body
}

#[inline(always)]
fn dropped_body<const FMA: bool>(y: &mut [f32], x: &[f32], site: Site, first: usize) {
    if site.is_on() {
        for (index, (y, x)) in y.iter_mut().zip(x).enumerate() {
            *y = x * site.factor((first + index) as u32);
        }
    } else {
        y.copy_from_slice(x);
    }
}

multiversion! {
    /// h = drop(relu(h + bias)) in place, row by row.
    fn relu_dropped(h: &mut [f32], bias: &[f32], site: Site, first: usize) = relu_dropped_body
}

#[inline(always)]
fn relu_dropped_body<const FMA: bool>(h: &mut [f32], bias: &[f32], site: Site, first: usize) {
    for (row, h) in h.chunks_exact_mut(bias.len()).enumerate() {
        let first = first + row * bias.len();
        if site.is_on() {
            for (index, (h, bias)) in h.iter_mut().zip(bias).enumerate() {
                *h = (*h + bias).max(0.0) * site.factor((first + index) as u32);
            }
        } else {
            for (h, bias) in h.iter_mut().zip(bias) {
                *h = (*h + bias).max(0.0);
            }
        }
    }
}

multiversion! {
    /// Gradient of [`relu_dropped`] in place, from its result: an element is positive exactly if it passed ReLU and was kept.
    fn relu_dropped_grad(dh: &mut [f32], h: &[f32], site: Site) = relu_dropped_grad_body
}

#[inline(always)]
fn relu_dropped_grad_body<const FMA: bool>(dh: &mut [f32], h: &[f32], site: Site) {
    let scale = if site.is_on() { site.scale } else { 1.0 };
    for (dh, h) in dh.iter_mut().zip(h) {
        *dh = if *h > 0.0 { *dh * scale } else { 0.0 };
    }
}

multiversion! {
    /// Layer norm of each row of x, which becomes the normalised xhat; y = xhat * gamma + beta.
    ///
    /// Shapes: x and y [rows, D], rstd `[rows]` (1 / standard deviation), gamma and beta `[D]`.
    fn norm(x: &mut [f32], y: &mut [f32], rstd: &mut [f32], gamma: &[f32], beta: &[f32], epsilon: f32) = norm_body
}

#[inline(always)]
fn norm_body<const FMA: bool>(
    x: &mut [f32],
    y: &mut [f32],
    rstd: &mut [f32],
    gamma: &[f32],
    beta: &[f32],
    epsilon: f32,
) {
    let d = gamma.len();
    for ((x, y), rstd) in x.chunks_mut(TOGETHER * d).zip(y.chunks_mut(TOGETHER * d)).zip(rstd.chunks_mut(TOGETHER)) {
        let (means, scales) = moments(x, d, epsilon);
        let rows = x.chunks_exact_mut(d).zip(y.chunks_exact_mut(d)).zip(means.iter().zip(&scales)).zip(rstd);
        for (((x, y), (mean, scale)), rstd) in rows {
            *rstd = *scale;
            for (((x, y), gamma), beta) in x.iter_mut().zip(y).zip(gamma).zip(beta) {
                *x = (*x - mean) * scale;
                *y = *x * gamma + beta;
            }
        }
    }
}

/// Rows that are normalised side by side: the sums and the root of one are a long chain of instructions that wait for each other.
const TOGETHER: usize = 4;

/// Mean and 1 / standard deviation of each of at most [`TOGETHER`] rows.
#[inline(always)]
fn moments(x: &[f32], d: usize, epsilon: f32) -> ([f32; TOGETHER], [f32; TOGETHER]) {
    let inverse = 1.0 / d as f32;
    let (mut means, mut scales) = ([0.0; TOGETHER], [0.0; TOGETHER]);
    for (mean, x) in means.iter_mut().zip(x.chunks_exact(d)) {
        *mean = sum_by(x, x, |x, _| x) * inverse;
    }
    for ((scale, mean), x) in scales.iter_mut().zip(&means).zip(x.chunks_exact(d)) {
        *scale = sum_by(x, x, |x, _| (x - mean) * (x - mean)) * inverse;
    }
    for scale in &mut scales {
        *scale = 1.0 / (*scale + epsilon).sqrt();
    }
    (means, scales)
}

multiversion! {
    /// y = LN(x + y + bias) in place, row by row, keeping nothing; the parameters are bias, gamma, beta.
    fn add_norm(y: &mut [f32], x: &[f32], params: [&[f32]; 3], epsilon: f32) = add_norm_body
}

#[inline(always)]
fn add_norm_body<const FMA: bool>(y: &mut [f32], x: &[f32], [bias, gamma, beta]: [&[f32]; 3], epsilon: f32) {
    let d = bias.len();
    for (y, x) in y.chunks_mut(TOGETHER * d).zip(x.chunks(TOGETHER * d)) {
        for (y, x) in y.chunks_exact_mut(d).zip(x.chunks_exact(d)) {
            for ((y, x), bias) in y.iter_mut().zip(x).zip(bias) {
                *y += x + bias;
            }
        }
        let (means, scales) = moments(y, d, epsilon);
        for (y, (mean, scale)) in y.chunks_exact_mut(d).zip(means.iter().zip(&scales)) {
            for ((y, gamma), beta) in y.iter_mut().zip(gamma).zip(beta) {
                *y = (*y - mean) * scale * gamma + beta;
            }
        }
    }
}

multiversion! {
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
fn norm_grad_body<const FMA: bool>(
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
        let params = gamma.iter().zip(&mut *dgamma).zip(&mut *dbeta);
        for ((dy, xhat), ((gamma, dgamma), dbeta)) in dy.iter_mut().zip(xhat).zip(params) {
            *dgamma += *dy * xhat;
            *dbeta += *dy;
            *dy *= gamma;
        }
        let mean = sum_by(dy, xhat, |dy, _| dy) * inverse;
        let slope = sum_by(dy, xhat, |dy, xhat| dy * xhat) * inverse;
        for (dy, xhat) in dy.iter_mut().zip(xhat) {
            *dy = (*dy - mean - xhat * slope) * rstd;
        }
    }
}

multiversion! {
    /// The gradient of a bias: total += the sum of the rows of dy [rows, D].
    fn add_rows(total: &mut [f32], dy: &[f32]) = add_rows_body
}

#[inline(always)]
fn add_rows_body<const FMA: bool>(total: &mut [f32], dy: &[f32]) {
    for row in dy.chunks_exact(total.len()) {
        for (total, dy) in total.iter_mut().zip(row) {
            *total += dy;
        }
    }
}
