//! The gradient of the FITC log evidence.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

use super::moments::fitc_lambda;
use super::prior::Sums;
use super::{Prior, Problem, Solved};
use crate::surrogate::dense::{self, FULL, LOWER, add_scaled, dot, product};
use crate::surrogate::kernel::{KernelGradient, Scaled};
use crate::surrogate::shards::{BLOCK, sum_over_rows};

struct Shard {
    by_cross: KernelGradient,
    /// sum g_i
    by_lambda: f64,
    /// sum g_i k_i k_i^T; lower triangle.
    gram: Mat<f64>,
    values: Mat<f64>,
    slopes: Mat<f64>,
    by_prior: Mat<f64>,
    by_posterior: Mat<f64>,
}

/// With p_i = Kmm^-1 k_i, t_i = Sigma^-1 k_i, r_i = y_i - k_i^T beta:
///
/// ```text
/// g_i     = dF/dlambda_i = (r_i^2 + k_i^T t_i - lambda_i) / 2 lambda_i^2
/// dF/dk_i = (r_i beta - t_i) / lambda_i - 2 g_i p_i
/// dF/dKmm = (shrink - beta beta^T) / 2 + Kmm^-1 (sum g_i k_i k_i^T) Kmm^-1
/// dF/dv   = sum g_i
/// ```
pub(super) fn gradient(problem: Problem<'_>, prior: &Prior, solved: &Solved) -> Sums {
    let m = prior.n_inducing();
    let n_dims = prior.inverse_lengths.len();
    let prior_inverse = dense::gram_of_lower(&prior.inverse_factor);
    let posterior_inverse = &prior_inverse - &solved.shrink;
    let zero = || Shard {
        by_cross: KernelGradient::zeros(m, n_dims),
        by_lambda: 0.0,
        gram: Mat::zeros(m, m),
        values: Mat::zeros(m, BLOCK),
        slopes: Mat::zeros(m, BLOCK),
        by_prior: Mat::zeros(m, BLOCK),
        by_posterior: Mat::zeros(m, BLOCK),
    };
    let add = |shard: &mut Shard, rows: std::ops::Range<usize>| {
        let n = rows.len();
        let points = Scaled::new(problem.x, rows.clone(), &prior.inverse_lengths);
        let outputs = (shard.values.subcols_mut(0, n), shard.slopes.subcols_mut(0, n));
        prior.inducing.covariance_and_slope(&points, prior.kernel, prior.variance, outputs.0, outputs.1, Par::Seq);
        let (values, slopes) = (shard.values.subcols(0, n), shard.slopes.subcols(0, n));
        matmul(shard.by_prior.subcols_mut(0, n), Accum::Replace, &prior_inverse, values, 1.0, Par::Seq);
        matmul(shard.by_posterior.subcols_mut(0, n), Accum::Replace, &posterior_inverse, values, 1.0, Par::Seq);
        // k_i g_i replaces p_i, and dF/dk_i replaces t_i.
        for (i, &y) in problem.y[rows].iter().enumerate() {
            let k = shard.values.col_as_slice(i);
            let (p, t) = (shard.by_prior.col_as_slice_mut(i), shard.by_posterior.col_as_slice_mut(i));
            let lambda = fitc_lambda(prior, dot(k, p));
            let residual = y - dot(k, &solved.beta);
            let g = 0.5 * (residual * residual + dot(k, t) - lambda) / (lambda * lambda);
            shard.by_lambda += g;
            for (((k, p), t), beta) in k.iter().zip(p).zip(t).zip(&solved.beta) {
                *t = (residual * beta - *t) / lambda - 2.0 * g * *p;
                *p = g * k;
            }
        }
        let scaled = shard.by_prior.subcols(0, n);
        let gram = (shard.gram.as_mut(), LOWER);
        product(gram, Accum::Add, (scaled, FULL), (values.transpose(), FULL), 1.0, Par::Seq);
        shard.by_cross.add(shard.by_posterior.subcols_mut(0, n), values, slopes, &points, Par::Seq);
    };
    let mut total = sum_over_rows(problem.y.len(), zero, add, |total, part| {
        total.by_cross.merge(&part.by_cross);
        total.by_lambda += part.by_lambda;
        total.gram += part.gram;
    });
    dense::mirror(&mut total.gram);
    let mut white = dense::outside(&prior.inverse_factor, &total.gram);
    dense::mirror(&mut white);
    let mut by_prior = dense::inside(&prior.inverse_factor, &white);
    for (j, &beta) in solved.beta.iter().enumerate() {
        let column = by_prior.col_as_slice_mut(j);
        add_scaled(column, 0.5, solved.shrink.col_as_slice(j));
        add_scaled(column, -0.5 * beta, &solved.beta);
    }
    Sums { by_prior, by_cross: total.by_cross, by_diagonal: total.by_lambda, by_noise: total.by_lambda }
}
