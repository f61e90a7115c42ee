//! The gradient of the variational free energy.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, Par, Scale};

use super::prior::Sums;
use super::{Prior, Problem, Solved};
use crate::gp::kernel::{KernelGradient, MapGradient};
use crate::numerics::dense::{self, add_scaled, dot};
use crate::numerics::shards::{BLOCK, sum_over_rows};

struct Shard {
    by_cross: KernelGradient,
    by_map: Option<MapGradient>,
    /// sum (y_i - k_i^T beta)^2
    residual: f64,
}

/// ```text
/// dF/dk_i = (shrink k_i + r_i beta) / v,   r_i = y_i - k_i^T beta
/// dF/dKmm = (shrink - beta beta^T - Kmm^-1 G Kmm^-1) / 2
/// dF/dv   = (sum r_i^2 + v tr(I - B^-1) - N v + N s - v tr(B - I)) / 2v^2
/// ```
pub(super) fn gradient(problem: Problem<'_>, prior: &Prior, solved: &Solved) -> Sums {
    let (m, scratch) = (prior.n_inducing(), problem.scratch);
    let zero = || {
        let by_cross = KernelGradient::zeros(m, prior.inverse_lengths.len());
        Shard { by_cross, by_map: prior.map_gradient(), residual: 0.0 }
    };
    let add = |shard: &mut Shard, rows: Range<usize>| {
        let n = rows.len();
        let points = prior.points(problem.x, rows.clone());
        let [mut values, mut slopes, mut by_value] = [(); 3].map(|()| scratch.take(m, BLOCK));
        let outputs = (values.subcols_mut(0, n), slopes.subcols_mut(0, n));
        prior.inducing.covariance_and_slope(&points, prior.kernel, prior.variance, outputs.0, outputs.1);
        let inputs = (values.subcols(0, n), slopes.subcols(0, n));
        matmul(by_value.subcols_mut(0, n), Accum::Replace, &solved.shrink, inputs.0, 1.0 / prior.noise, Par::Seq);
        for (i, &y) in problem.y[rows.clone()].iter().enumerate() {
            let residual = y - dot(values.col_as_slice(i), &solved.beta);
            shard.residual += residual * residual;
            add_scaled(by_value.col_as_slice_mut(i), residual / prior.noise, &solved.beta);
        }
        shard.by_cross.add(by_value.subcols_mut(0, n), inputs.0, inputs.1, &points);
        if let Some(by_map) = &mut shard.by_map {
            by_map.add(by_value.subcols(0, n), &points, problem.x.subrows(rows.start, n));
        }
        scratch.give([values, slopes, by_value]);
    };
    let total = sum_over_rows(problem.y.len(), zero, add, |total, part| {
        total.by_cross.merge(&part.by_cross);
        MapGradient::merge(&mut total.by_map, part.by_map);
        total.residual += part.residual;
    });
    let mut by_prior = dense::inside(&prior.inverse_factor, &solved.excess, scratch);
    by_prior -= &solved.shrink;
    by_prior *= Scale(-0.5);
    for (j, &beta) in solved.beta.iter().enumerate() {
        add_scaled(by_prior.col_as_slice_mut(j), -0.5 * beta, &solved.beta);
    }
    let (n, v) = (problem.y.len() as f64, prior.noise);
    let traces = solved.shrink_trace - solved.excess_trace;
    let by_noise = 0.5 * (total.residual + v * traces - n * v + n * prior.variance) / (v * v);
    Sums { by_prior, by_cross: total.by_cross, by_map: total.by_map, by_diagonal: -0.5 * n / v, by_noise }
}
