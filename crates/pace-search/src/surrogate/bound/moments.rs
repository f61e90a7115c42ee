//! The first pass over the data: G, h and the sums of the log density.

use faer::{Accum, Mat, Par};

use super::{Bound, Prior, Problem};
use crate::surrogate::dense::{self, FULL, LOWER, dot, product};
use crate::surrogate::kernel::Scaled;
use crate::surrogate::shards::{BLOCK, sum_over_rows};

/// Sums over rows i with covariances k_i [M] and Lambda = diag(lambda).
pub(super) struct Moments {
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

pub(super) fn moments(bound: Bound, problem: Problem<'_>, prior: &Prior) -> Moments {
    let m = prior.n_inducing();
    let zero = || {
        let moments = Moments { n_rows: 0, gram: Mat::zeros(m, m), rhs: vec![0.0; m], log_lambda: 0.0, square: 0.0 };
        let whitened = if bound == Bound::Fitc { BLOCK } else { 0 };
        (moments, Mat::zeros(m, BLOCK), Mat::zeros(m, whitened))
    };
    let add = |(sums, block, whitened): &mut (Moments, Mat<f64>, Mat<f64>), rows: std::ops::Range<usize>| {
        let n = rows.len();
        let points = Scaled::new(problem.x, rows.clone(), &prior.inverse_lengths);
        prior.cross(&points, block.subcols_mut(0, n));
        if bound == Bound::Fitc {
            let whitened = (whitened.subcols_mut(0, n), FULL);
            let factors = ((prior.inverse_factor.as_ref(), LOWER), (block.subcols(0, n), FULL));
            product(whitened, Accum::Replace, factors.0, factors.1, 1.0, Par::Seq);
        }
        for (i, &y) in problem.y[rows].iter().enumerate() {
            let lambda = match bound {
                Bound::Vfe => prior.noise,
                Bound::Fitc => fitc_lambda(prior, dot(whitened.col_as_slice(i), whitened.col_as_slice(i))),
            };
            sums.log_lambda += lambda.ln();
            sums.square += y * y / lambda;
            let column = block.col_as_slice_mut(i);
            // Both factors of k k^T / lambda take half of the division.
            let root = 1.0 / lambda.sqrt();
            column.iter_mut().for_each(|k| *k *= root);
            dense::add_scaled(&mut sums.rhs, y * root, column);
        }
        sums.n_rows += n;
        let block = block.subcols(0, n);
        product((sums.gram.as_mut(), LOWER), Accum::Add, (block, FULL), (block.transpose(), FULL), 1.0, Par::Seq);
    };
    let merge = |(total, ..): &mut (Moments, Mat<f64>, Mat<f64>), (part, ..): (Moments, Mat<f64>, Mat<f64>)| {
        total.n_rows += part.n_rows;
        total.gram += part.gram;
        dense::add_scaled(&mut total.rhs, 1.0, &part.rhs);
        total.log_lambda += part.log_lambda;
        total.square += part.square;
    };
    sum_over_rows(problem.y.len(), zero, add, merge).0
}
