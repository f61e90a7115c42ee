//! The gradient of the FITC log evidence.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

use super::moments::fitc_lambda;
use super::prior::Sums;
use super::{Prior, Problem, Solved};
use crate::gp::kernel::{KernelGradient, MapGradient};
use crate::numerics::dense::{self, add_scaled, dot};
use crate::numerics::product::{FULL, LOWER, product};
use crate::numerics::shards::{BLOCK, sum_over_rows};

struct Shard {
    by_cross: KernelGradient,
    by_map: Option<MapGradient>,
    /// sum g_i
    by_lambda: f64,
    /// sum g_i k_i k_i^T; lower triangle.
    gram: Mat<f64>,
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
    let (m, scratch) = (prior.n_inducing(), problem.scratch);
    let [mut prior_inverse, mut posterior_inverse] = [(); 2].map(|()| scratch.take(m, m));
    dense::gram_of_lower(&mut prior_inverse, Accum::Replace, &prior.inverse_factor, 1.0);
    dense::mirror(&mut prior_inverse);
    posterior_inverse.copy_from(&prior_inverse);
    posterior_inverse -= &solved.shrink;
    let zero = || {
        let by_cross = KernelGradient::zeros(m, prior.inverse_lengths.len());
        Shard { by_cross, by_map: prior.map_gradient(), by_lambda: 0.0, gram: scratch.zeros(m, m) }
    };
    let add = |shard: &mut Shard, rows: Range<usize>| {
        let n = rows.len();
        let points = prior.points(problem.x, rows.clone());
        let [mut values, mut slopes, mut by_prior, mut by_posterior] = [(); 4].map(|()| scratch.take(m, BLOCK));
        let outputs = (values.subcols_mut(0, n), slopes.subcols_mut(0, n));
        prior.inducing.covariance_and_slope(&points, prior.kernel, prior.variance, outputs.0, outputs.1);
        let inputs = (values.subcols(0, n), slopes.subcols(0, n));
        matmul(by_prior.subcols_mut(0, n), Accum::Replace, &prior_inverse, inputs.0, 1.0, Par::Seq);
        matmul(by_posterior.subcols_mut(0, n), Accum::Replace, &posterior_inverse, inputs.0, 1.0, Par::Seq);
        // k_i g_i replaces p_i, and dF/dk_i replaces t_i.
        for (i, &y) in problem.y[rows.clone()].iter().enumerate() {
            let k = values.col_as_slice(i);
            let (p, t) = (by_prior.col_as_slice_mut(i), by_posterior.col_as_slice_mut(i));
            let lambda = fitc_lambda(prior, dot(k, p));
            let residual = y - dot(k, &solved.beta);
            let g = 0.5 * (residual * residual + dot(k, t) - lambda) / (lambda * lambda);
            shard.by_lambda += g;
            for (((k, p), t), beta) in k.iter().zip(p).zip(t).zip(&solved.beta) {
                *t = (residual * beta - *t) / lambda - 2.0 * g * *p;
                *p = g * k;
            }
        }
        let (left, right) = ((by_prior.subcols(0, n), FULL), (inputs.0.transpose(), FULL));
        product((shard.gram.as_mut(), LOWER), Accum::Add, left, right, 1.0);
        shard.by_cross.add(by_posterior.subcols_mut(0, n), inputs.0, inputs.1, &points);
        if let Some(by_map) = &mut shard.by_map {
            by_map.add(by_posterior.subcols(0, n), &points, problem.x.subrows(rows.start, n));
        }
        scratch.give([values, slopes, by_prior, by_posterior]);
    };
    let mut total = sum_over_rows(problem.y.len(), zero, add, |total, part| {
        total.by_cross.merge(&part.by_cross);
        MapGradient::merge(&mut total.by_map, part.by_map);
        total.by_lambda += part.by_lambda;
        total.gram += &part.gram;
        scratch.give([part.gram]);
    });
    dense::mirror(&mut total.gram);
    let white = dense::outside(&prior.inverse_factor, &total.gram, scratch);
    let mut by_prior = dense::inside(&prior.inverse_factor, &white, scratch);
    scratch.give([white, total.gram, prior_inverse, posterior_inverse]);
    for (j, &beta) in solved.beta.iter().enumerate() {
        let column = by_prior.col_as_slice_mut(j);
        add_scaled(column, 0.5, solved.shrink.col_as_slice(j));
        add_scaled(column, -0.5 * beta, &solved.beta);
    }
    let (by_cross, by_map) = (total.by_cross, total.by_map);
    Sums { by_prior, by_cross, by_map, by_diagonal: total.by_lambda, by_noise: total.by_lambda }
}
