//! [`State`]: the part of the energy and of predictions that depends only on the parameters.

use faer::{Accum, Mat};

use super::PublishedParameters;
use crate::error::Error;
use crate::gp::KernelPosterior;
use crate::gp::kernel::{Kernel, Scaled};
use crate::numerics::dense::{self, times};
use crate::numerics::product::{FULL, LOWER, dense_product, parallel_product};
use crate::numerics::scratch::Scratch;

/// On the diagonal of Kzz, relative to s.
const JITTER: f64 = 1e-3;

/// Everything that follows from the parameters alone.
pub(super) struct State {
    pub(super) inverse_lengths: Vec<f64>,
    pub(super) inducing: Scaled,
    pub(super) variance: f64,
    pub(super) noise: f64,
    /// K [M, M] and dK/dr^2.
    pub(super) covariance: Mat<f64>,
    pub(super) slopes: Mat<f64>,
    /// T; lower triangle.
    pub(super) inner: Mat<f64>,
    /// p = K m.
    pub(super) covered: Vec<f64>,
}

/// The results that depend on B_c.
pub(super) struct Side {
    pub(super) log_det: f64,
    /// F_c = L B_c^-1 [M, M].
    pub(super) solved: Mat<f64>,
}

impl State {
    pub(super) fn new(params: &PublishedParameters, scratch: &Scratch) -> State {
        let m = params.inducing.nrows();
        let inverse_lengths: Vec<f64> = params.log_squared_lengths.iter().map(|log| (-0.5 * log).exp()).collect();
        let (variance, noise) = (params.log_variance.exp(), params.log_noise.exp());
        let inducing = Scaled::new(params.inducing.as_ref(), 0..m, &inverse_lengths);
        let [mut covariance, mut slopes, mut half, mut inner] = [(); 4].map(|()| scratch.take(m, m));
        inducing.own_covariance_and_slope(Kernel::Rbf, variance, &mut covariance, &mut slopes);
        (0..m).for_each(|j| covariance[(j, j)] = variance * (1.0 + JITTER));
        dense_product(&mut half, Accum::Replace, &covariance, &params.factor, 1.0);
        let factors = ((params.factor.transpose(), FULL), (half.as_ref(), FULL));
        parallel_product((inner.as_mut(), LOWER), Accum::Replace, factors.0, factors.1, 1.0);
        scratch.give([half]);
        let covered = times(&covariance, &params.mean);
        State { inverse_lengths, inducing, variance, noise, covariance, slopes, inner, covered }
    }

    pub(super) fn side(&self, params: &PublishedParameters, c: f64, scratch: &Scratch) -> Result<Side, Error> {
        let size = self.inner.nrows();
        let mut factor = scratch.take(size, size);
        for j in 0..size {
            let column = factor.col_as_slice_mut(j).iter_mut().zip(self.inner.col_as_slice(j));
            column.for_each(|(b, inner)| *b = c * inner);
            factor[(j, j)] += 1.0;
        }
        dense::cholesky(&mut factor).map_err(|pivot| {
            let what = "the precision of the inducing points";
            Error::NotPositiveDefinite { what, pivot, size, jitter: JITTER }
        })?;
        let log_det = dense::log_det(&factor);
        let [mut inverse_factor, mut inverse, mut solved] = [(); 3].map(|()| scratch.take(size, size));
        dense::invert_lower(&mut inverse_factor, &factor);
        dense::gram_of_lower(&mut inverse, Accum::Replace, &inverse_factor, 1.0);
        dense::mirror(&mut inverse);
        dense_product(&mut solved, Accum::Replace, &params.factor, &inverse, 1.0);
        scratch.give([factor, inverse_factor, inverse]);
        Ok(Side { log_det, solved })
    }

    /// beta and C_c.
    pub(super) fn predictor(
        &self,
        params: &PublishedParameters,
        c: f64,
        side: &Side,
        scratch: &Scratch,
    ) -> (Vec<f64>, Mat<f64>) {
        let m = self.inner.nrows();
        let mut shrink = scratch.take(m, m);
        let factors = ((side.solved.as_ref(), FULL), (params.factor.transpose(), FULL));
        parallel_product((shrink.as_mut(), LOWER), Accum::Replace, factors.0, factors.1, c);
        dense::mirror(&mut shrink);
        let shrunk = times(&shrink, &self.covered);
        let weights = params.mean.iter().zip(&shrunk).map(|(m, shrunk)| c * (m - shrunk)).collect();
        (weights, shrink)
    }

    pub(super) fn into_posterior(self, weights: Vec<f64>, shrink: Mat<f64>) -> KernelPosterior {
        let State { inverse_lengths, inducing, variance, noise, .. } = self;
        KernelPosterior {
            kernel: Kernel::Rbf,
            map: None,
            inverse_lengths,
            variance,
            noise,
            inducing,
            weights,
            shrink,
            fantasies: None,
        }
    }
}
