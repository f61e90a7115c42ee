//! [`Solved`]: the bound and the posterior over the inducing points.

use faer::{Accum, Mat};

use super::moments::Moments;
use super::{Bound, Prior};
use crate::error::Error;
use crate::numerics::dense::{self, dot};
use crate::numerics::product::{LOWER, parallel_product};
use crate::numerics::scratch::Scratch;

/// The posterior over the inducing points.
///
/// ```text
/// B = I + L^-1 G L^-T              Sigma = Kmm + G = L B L^T
/// mean at x: k^T beta,             beta = Sigma^-1 h
/// variance:  s - k^T shrink k,     shrink = Kmm^-1 - Sigma^-1 = L^-T (I - B^-1) L^-1
/// ```
///
/// B has no eigenvalue below 1, so it is safe to invert. Sigma is not.
#[derive(Clone, Debug)]
pub(crate) struct Solved {
    /// The bound, in nats.
    pub(crate) value: f64,
    /// [M]
    pub(crate) beta: Vec<f64>,
    /// [M, M]
    pub(crate) shrink: Mat<f64>,
    /// B - I = L^-1 G L^-T [M, M].
    pub(super) excess: Mat<f64>,
    /// Trace of B - I, which is that of Kmm^-1 G.
    pub(super) excess_trace: f64,
    /// Trace of I - B^-1, which is that of Sigma^-1 G.
    pub(super) shrink_trace: f64,
}

impl Solved {
    pub(super) fn new(bound: Bound, prior: &Prior, moments: Moments, scratch: &Scratch) -> Result<Solved, Error> {
        let size = prior.n_inducing();
        let Moments { white, n_rows, mut gram, rhs, log_lambda, square } = moments;
        dense::mirror(&mut gram);
        let (excess, mut factor) = match white {
            true => (gram, scratch.take(size, size)),
            false => (dense::outside(&prior.inverse_factor, &gram, scratch), gram),
        };
        factor.copy_from(&excess);
        (0..size).for_each(|i| factor[(i, i)] += 1.0);
        dense::cholesky(&mut factor).map_err(|pivot| {
            let what = "the posterior precision of the inducing points";
            Error::NotPositiveDefinite { what, pivot, size, jitter: 0.0 }
        })?;
        // The inverse factor of B, and its product with that of Kmm, which is the inverse factor of Sigma.
        let [mut inverse, mut both, mut shrink] = [(); 3].map(|()| scratch.take(size, size));
        dense::invert_lower(&mut inverse, &factor);
        let factors = ((inverse.as_ref(), LOWER), (prior.inverse_factor.as_ref(), LOWER));
        parallel_product((both.as_mut(), LOWER), Accum::Replace, factors.0, factors.1, 1.0);
        dense::clear_upper(&mut both);
        let fit = dense::times(if white { &inverse } else { &both }, &rhs);
        let beta = dense::transposed_times(&both, &fit);
        dense::gram_of_lower(&mut shrink, Accum::Replace, &prior.inverse_factor, 1.0);
        dense::gram_of_lower(&mut shrink, Accum::Add, &both, -1.0);
        dense::mirror(&mut shrink);
        let squares = |matrix: &Mat<f64>| matrix.col_iter().map(|column| column.squared_norm_l2()).sum::<f64>();
        let shrink_trace = size as f64 - squares(&inverse);
        let excess_trace = excess.diagonal().column_vector().iter().sum();
        let n = n_rows as f64;
        let log_2_pi = (2.0 * std::f64::consts::PI).ln();
        let mut value = -0.5 * (n * log_2_pi + log_lambda + dense::log_det(&factor) + square - dot(&fit, &fit));
        if bound == Bound::Vfe {
            value -= 0.5 * (n * prior.variance / prior.noise - excess_trace);
        }
        scratch.give([factor, inverse, both]);
        Ok(Solved { value, beta, shrink, excess, excess_trace, shrink_trace })
    }

    pub(super) fn recycle(self, scratch: &Scratch) {
        scratch.give([self.shrink, self.excess]);
    }
}
