//! Fantasies: rows that a Gaussian process treats as observed.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use super::kernel::Scaled;
use super::posterior::KernelPosterior;
use crate::numerics::dense;

/// The first share of the signal variance that is added to the noise, if the covariance of the fantasies cannot be factored.
const FIRST_JITTER: f64 = 1e-12;

/// Fantasies X* [F, D], and by how much they reduce the variance.
///
/// With c(x, x') = k(x, x') - k_x^T shrink k_x' the posterior covariance, and C = c(X*, X*) + v I = L L^T:
///
/// ```text
/// variance at x: c(x, x) - |L^-1 c(X*, x)|^2
/// ```
///
/// the same as in a Gaussian process with X* among its inducing points.
#[derive(Clone, Debug)]
pub(crate) struct Fantasies {
    /// X* [F, D]
    rows: Mat<f64>,
    pub(super) points: Scaled,
    /// shrink k(Z, X*) [M, F]
    pub(super) shrunk: Mat<f64>,
    /// L^-1 [F, F]
    pub(super) inverse_factor: Mat<f64>,
}

impl KernelPosterior {
    /// The posterior after the rows of x [n, D] were observed with their means as values, in addition to earlier fantasies.
    pub(crate) fn fantasise(&self, x: MatRef<'_, f64>) -> KernelPosterior {
        assert_eq!(x.ncols(), self.n_dims(), "{} columns, but the fit saw {}", x.ncols(), self.n_dims());
        if x.nrows() == 0 {
            return self.clone();
        }
        let n_old = self.fantasies.as_ref().map_or(0, |fantasies| fantasies.rows.nrows());
        let rows = Mat::from_fn(n_old + x.nrows(), x.ncols(), |i, d| match &self.fantasies {
            Some(fantasies) if i < n_old => fantasies.rows[(i, d)],
            _ => x[(i - n_old, d)],
        });
        let points = self.points(rows.as_ref());
        let cross = self.cross(&points);
        let mut shrunk = Mat::zeros(cross.nrows(), cross.ncols());
        matmul(&mut shrunk, Accum::Replace, &self.shrink, &cross, 1.0, Par::Seq);
        let mut covariance = Mat::zeros(rows.nrows(), rows.nrows());
        points.covariance(&points, self.kernel, self.variance, covariance.as_mut());
        matmul(&mut covariance, Accum::Add, cross.transpose(), &shrunk, -1.0, Par::Seq);
        let inverse_factor = inverse_factor(&covariance, self.noise, self.variance);
        let fantasies = Some(Fantasies { rows, points, shrunk, inverse_factor });
        KernelPosterior { fantasies, ..self.clone() }
    }
}

impl Fantasies {
    /// c(X*, x_i) [F, n], given k(Z, x_i) [M, n].
    pub(super) fn covariance(&self, posterior: &KernelPosterior, points: &Scaled, cross: &Mat<f64>) -> Mat<f64> {
        let mut covariance = Mat::zeros(self.points.len(), points.len());
        self.points.covariance(points, posterior.kernel, posterior.variance, covariance.as_mut());
        matmul(&mut covariance, Accum::Add, self.shrunk.transpose(), cross, -1.0, Par::Seq);
        covariance
    }

    /// The reduction of the variance of each point.
    pub(super) fn gains(&self, posterior: &KernelPosterior, points: &Scaled, cross: &Mat<f64>) -> Vec<f64> {
        let covariance = self.covariance(posterior, points, cross);
        let mut white = Mat::zeros(covariance.nrows(), covariance.ncols());
        matmul(&mut white, Accum::Replace, &self.inverse_factor, &covariance, 1.0, Par::Seq);
        white.col_iter().map(|column| column.squared_norm_l2()).collect()
    }
}

/// L^-1 of c(X*, X*) + noise. Two equal fantasies may need more noise than there is.
fn inverse_factor(covariance: &Mat<f64>, noise: f64, variance: f64) -> Mat<f64> {
    let size = covariance.nrows();
    let mut jitter = 0.0;
    loop {
        let mut factor = covariance.clone();
        (0..size).for_each(|i| factor[(i, i)] = factor[(i, i)].max(0.0) + noise + jitter * variance);
        if dense::cholesky(&mut factor).is_ok() {
            let mut inverse = Mat::zeros(size, size);
            dense::invert_lower(&mut inverse, &factor);
            return inverse;
        }
        assert!(jitter < 1.0, "the covariance of {size} fantasies is not finite; their vectors hold a NaN");
        jitter = (10.0 * jitter).max(FIRST_JITTER);
    }
}
