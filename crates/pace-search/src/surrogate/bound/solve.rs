//! From sums over the data to the bound and to the posterior over the inducing points.

use faer::Mat;

use super::moments::Moments;
use super::{Bound, Prior};
use crate::error::Error;
use crate::surrogate::dense::{self, dot};

/// The posterior over the inducing points.
///
/// ```text
/// B = I + L^-1 G L^-T              Sigma = Kmm + G = L B L^T
/// mean at x: k^T beta,             beta = Sigma^-1 h
/// variance:  s - k^T shrink k,     shrink = Kmm^-1 - Sigma^-1 = L^-T (I - B^-1) L^-1
/// ```
///
/// B has no eigenvalue below 1, so its inverse is safe where that of Sigma is not.
#[derive(Clone, Debug)]
pub(crate) struct Solved {
    /// The bound, in nats.
    pub(crate) value: f64,
    /// [M]
    pub(crate) beta: Vec<f64>,
    /// [M, M]
    pub(crate) shrink: Mat<f64>,
    /// B - I = L^-1 G L^-T, full.
    pub(super) excess: Mat<f64>,
    /// I - B^-1, full.
    pub(super) shrink_white: Mat<f64>,
}

impl Solved {
    pub(super) fn new(bound: Bound, prior: &Prior, moments: Moments) -> Result<Solved, Error> {
        let size = prior.n_inducing();
        let Moments { n_rows, mut gram, rhs, log_lambda, square } = moments;
        dense::mirror(&mut gram);
        let mut excess = dense::outside(&prior.inverse_factor, &gram);
        dense::mirror(&mut excess);
        let mut b = excess.clone();
        (0..size).for_each(|i| b[(i, i)] += 1.0);
        let factor = dense::cholesky(b).map_err(|pivot| {
            let what = "the posterior precision of the inducing points";
            Error::NotPositiveDefinite { what, pivot, size, jitter: 0.0 }
        })?;
        let inverse = dense::invert_lower(&factor);
        let fit = dense::times(&inverse, &dense::times(&prior.inverse_factor, &rhs));
        let beta = dense::transposed_times(&prior.inverse_factor, &dense::transposed_times(&inverse, &fit));
        let mut shrink_white = dense::gram_of_lower(&inverse);
        shrink_white *= faer::Scale(-1.0);
        (0..size).for_each(|i| shrink_white[(i, i)] += 1.0);
        let shrink = dense::inside(&prior.inverse_factor, &shrink_white);
        let n = n_rows as f64;
        let log_2_pi = (2.0 * std::f64::consts::PI).ln();
        let mut value = -0.5 * (n * log_2_pi + log_lambda + dense::log_det(&factor) + square - dot(&fit, &fit));
        if bound == Bound::Vfe {
            // The trace of B - I is that of Q / v.
            value -= 0.5 * (n * prior.variance / prior.noise - trace(&excess));
        }
        Ok(Solved { value, beta, shrink, excess, shrink_white })
    }
}

pub(super) fn trace(a: &Mat<f64>) -> f64 {
    a.diagonal().column_vector().iter().sum()
}
