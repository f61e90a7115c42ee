//! The gradient of the variational free energy.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par, Scale};

use super::prior::Sums;
use super::solve::trace;
use super::{Prior, Problem, Solved};
use crate::surrogate::dense::{self, add_scaled, dot};
use crate::surrogate::kernel::{KernelGradient, Scaled};
use crate::surrogate::shards::{BLOCK, sum_over_rows};

struct Shard {
    by_cross: KernelGradient,
    /// sum (y_i - k_i^T beta)^2
    residual: f64,
    values: Mat<f64>,
    slopes: Mat<f64>,
    by_value: Mat<f64>,
}

/// ```text
/// dF/dk_i = (shrink k_i + r_i beta) / v,   r_i = y_i - k_i^T beta
/// dF/dKmm = (shrink - beta beta^T - Kmm^-1 G Kmm^-1) / 2
/// dF/dv   = (sum r_i^2 + v tr(I - B^-1) - N v + N s - v tr(B - I)) / 2v^2
/// ```
pub(super) fn gradient(problem: Problem<'_>, prior: &Prior, solved: &Solved) -> Sums {
    let m = prior.n_inducing();
    let n_dims = prior.inverse_lengths.len();
    let zero = || Shard {
        by_cross: KernelGradient::zeros(m, n_dims),
        residual: 0.0,
        values: Mat::zeros(m, BLOCK),
        slopes: Mat::zeros(m, BLOCK),
        by_value: Mat::zeros(m, BLOCK),
    };
    let add = |shard: &mut Shard, rows: std::ops::Range<usize>| {
        let n = rows.len();
        let points = Scaled::new(problem.x, rows.clone(), &prior.inverse_lengths);
        let outputs = (shard.values.subcols_mut(0, n), shard.slopes.subcols_mut(0, n));
        prior.inducing.covariance_and_slope(&points, prior.kernel, prior.variance, outputs.0, outputs.1, Par::Seq);
        let (values, slopes) = (shard.values.subcols(0, n), shard.slopes.subcols(0, n));
        let by_value = shard.by_value.subcols_mut(0, n);
        matmul(by_value, Accum::Replace, &solved.shrink, values, 1.0 / prior.noise, Par::Seq);
        for (i, &y) in problem.y[rows].iter().enumerate() {
            let residual = y - dot(shard.values.col_as_slice(i), &solved.beta);
            shard.residual += residual * residual;
            add_scaled(shard.by_value.col_as_slice_mut(i), residual / prior.noise, &solved.beta);
        }
        shard.by_cross.add(shard.by_value.subcols_mut(0, n), values, slopes, &points, Par::Seq);
    };
    let total = sum_over_rows(problem.y.len(), zero, add, |total, part| {
        total.by_cross.merge(&part.by_cross);
        total.residual += part.residual;
    });
    let mut by_prior = dense::inside(&prior.inverse_factor, &solved.excess);
    by_prior -= &solved.shrink;
    by_prior *= Scale(-0.5);
    for (j, &beta) in solved.beta.iter().enumerate() {
        add_scaled(by_prior.col_as_slice_mut(j), -0.5 * beta, &solved.beta);
    }
    let (n, v) = (problem.y.len() as f64, prior.noise);
    let traces = trace(&solved.shrink_white) - trace(&solved.excess);
    let by_noise = 0.5 * (total.residual + v * traces - n * v + n * prior.variance) / (v * v);
    Sums { by_prior, by_cross: total.by_cross, by_diagonal: -0.5 * n / v, by_noise }
}
