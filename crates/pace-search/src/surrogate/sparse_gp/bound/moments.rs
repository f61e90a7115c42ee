//! The first pass over the data: G, h and the sums of the log density.

use std::ops::Range;

use faer::{Accum, Mat};

use super::{Bound, Prior, Problem};
use crate::numerics::dense::{add_scaled, dot};
use crate::numerics::product::{FULL, LOWER, product};
use crate::numerics::shards::{BLOCK, sum_over_rows};

/// The largest error allowed in B, whose eigenvalues are 1 or more.
const MAX_ERROR: f64 = 1e-4;

/// Sums over rows i with covariances k_i [M] and Lambda = diag(lambda).
///
/// If `white`, k_i is replaced by L^-1 k_i. That is exact to the last digits for any noise, but takes another product with a
/// triangle for each block.
pub(super) struct Moments {
    pub(super) white: bool,
    pub(super) n_rows: usize,
    /// G = sum k_i k_i^T / lambda_i; lower triangle.
    pub(super) gram: Mat<f64>,
    /// h = sum k_i y_i / lambda_i.
    pub(super) rhs: Vec<f64>,
    /// sum log lambda_i.
    pub(super) log_lambda: f64,
    /// sum y_i^2 / lambda_i.
    pub(super) square: f64,
}

/// lambda_i of FITC, given q_i = k_i^T Kmm^-1 k_i.
pub(super) fn fitc_lambda(prior: &Prior, q: f64) -> f64 {
    prior.noise + (prior.variance - q).max(0.0)
}

/// The error of B if it is computed as L^-1 G L^-T: the rounding error of G, multiplied by Kmm^-1.
fn error_of_plain_sums(n_rows: usize, prior: &Prior) -> f64 {
    let inverse_size: f64 = prior.inverse_factor.col_iter().map(|column| column.squared_norm_l2()).sum();
    f64::EPSILON * (n_rows as f64).sqrt() * prior.variance.powi(2) / prior.noise * inverse_size
}

impl Moments {
    pub(super) fn new(bound: Bound, problem: Problem<'_>, prior: &Prior) -> Moments {
        let m = prior.n_inducing();
        let white = match bound {
            Bound::Vfe => error_of_plain_sums(problem.y.len(), prior) > MAX_ERROR,
            // The diagonal of Q needs them in any case.
            Bound::Fitc => true,
        };
        let zero = || Moments {
            white,
            n_rows: 0,
            gram: problem.scratch.zeros(m, m),
            rhs: vec![0.0; m],
            log_lambda: 0.0,
            square: 0.0,
        };
        let add = |sums: &mut Moments, rows: Range<usize>| sums.add(bound, problem, prior, rows);
        sum_over_rows(problem.y.len(), zero, add, |total, part| {
            total.n_rows += part.n_rows;
            total.gram += &part.gram;
            problem.scratch.give([part.gram]);
            add_scaled(&mut total.rhs, 1.0, &part.rhs);
            total.log_lambda += part.log_lambda;
            total.square += part.square;
        })
    }

    fn add(&mut self, bound: Bound, problem: Problem<'_>, prior: &Prior, rows: Range<usize>) {
        let (m, n, scratch) = (prior.n_inducing(), rows.len(), problem.scratch);
        let points = prior.points(problem.x, rows.clone());
        let [mut block, mut whitened] = [(); 2].map(|()| scratch.take(m, BLOCK));
        prior.cross(&points, block.subcols_mut(0, n));
        if self.white {
            let factors = ((prior.inverse_factor.as_ref(), LOWER), (block.subcols(0, n), FULL));
            product((whitened.subcols_mut(0, n), FULL), Accum::Replace, factors.0, factors.1, 1.0);
            std::mem::swap(&mut block, &mut whitened);
        }
        for (i, &y) in problem.y[rows].iter().enumerate() {
            let column = block.col_as_slice_mut(i);
            let lambda = match bound {
                Bound::Vfe => prior.noise,
                Bound::Fitc => fitc_lambda(prior, dot(column, column)),
            };
            self.log_lambda += lambda.ln();
            self.square += y * y / lambda;
            // Each factor of k k^T / lambda is divided by sqrt(lambda).
            let root = 1.0 / lambda.sqrt();
            column.iter_mut().for_each(|k| *k *= root);
            add_scaled(&mut self.rhs, y * root, column);
        }
        self.n_rows += n;
        let (left, right) = ((block.subcols(0, n), FULL), (block.subcols(0, n).transpose(), FULL));
        product((self.gram.as_mut(), LOWER), Accum::Add, left, right, 1.0);
        scratch.give([block, whitened]);
    }
}
