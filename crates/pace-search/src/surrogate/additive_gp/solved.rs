//! [`Solved`]: a covariance with noise, factored, and the weights of the scores.

use faer::Mat;

use crate::error::Error;
use crate::numerics::dense::{cholesky, invert_lower, times, transposed_times};

/// K + v I = L L^T and what follows from it for scores y.
pub(super) struct Solved {
    /// L [n, n], below its diagonal.
    pub(super) lower: Mat<f64>,
    /// L^-1 [n, n].
    pub(super) inverse_lower: Mat<f64>,
    /// (K + v I)^-1 y `[n]`.
    pub(super) weights: Vec<f64>,
}

impl Solved {
    /// Factors the covariances k [n, n] with the variance v of the noise.
    pub(super) fn new(mut k: Mat<f64>, noise: f64, y: &[f64]) -> Result<Solved, Error> {
        let n = y.len();
        (0..n).for_each(|i| k[(i, i)] += noise);
        cholesky(&mut k).map_err(|pivot| Error::NotPositiveDefinite {
            what: "the covariance",
            pivot,
            size: n,
            jitter: noise,
        })?;
        let mut inverse_lower = Mat::zeros(n, n);
        invert_lower(&mut inverse_lower, &k);
        let weights = transposed_times(&inverse_lower, &times(&inverse_lower, y));
        Ok(Solved { lower: k, inverse_lower, weights })
    }
}
