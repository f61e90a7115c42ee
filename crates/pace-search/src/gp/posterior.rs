//! [`KernelPosterior`]: predictions of a Gaussian process with inducing points.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::fantasy::Fantasies;
use super::kernel::{Kernel, Scaled};
use crate::numerics::dense::dot;
use crate::numerics::shards::BLOCK;
use crate::surrogate::Posterior;

/// With k the covariances of x and the inducing points: mean k^T weights, variance s - k^T shrink k.
#[derive(Clone, Debug)]
pub(crate) struct KernelPosterior {
    pub(crate) kernel: Kernel,
    /// A [K, D], if vectors are mapped first.
    pub(crate) map: Option<Mat<f64>>,
    pub(crate) inverse_lengths: Vec<f64>,
    /// s
    pub(crate) variance: f64,
    /// v
    pub(crate) noise: f64,
    pub(crate) inducing: Scaled,
    /// [M]
    pub(crate) weights: Vec<f64>,
    /// [M, M]
    pub(crate) shrink: Mat<f64>,
    /// Rows that are treated as observed.
    pub(crate) fantasies: Option<Fantasies>,
}

impl KernelPosterior {
    /// D
    pub(crate) fn n_dims(&self) -> usize {
        self.map.as_ref().map_or(self.inverse_lengths.len(), Mat::ncols)
    }

    /// Rows of x [n, D], mapped and in units of the length-scales.
    pub(crate) fn points(&self, x: MatRef<'_, f64>) -> Scaled {
        Scaled::mapped(x, 0..x.nrows(), self.map.as_ref(), &self.inverse_lengths)
    }

    /// k(z_j, x_i) [M, n].
    pub(crate) fn cross(&self, points: &Scaled) -> Mat<f64> {
        let mut cross = Mat::zeros(self.inducing.len(), points.len());
        self.inducing.covariance(points, self.kernel, self.variance, cross.as_mut());
        cross
    }
}

/// The posterior at the rows of x [N, D]. Rounding may leave a variance a little below 0.
pub(crate) fn predict(posterior: &KernelPosterior, x: MatRef<'_, f64>) -> Posterior {
    let m = posterior.inducing.len();
    let n_dims = posterior.n_dims();
    assert_eq!(x.ncols(), n_dims, "{} columns, but the fit saw {n_dims}", x.ncols());
    let block = |index: usize| {
        let (start, end) = (index * BLOCK, ((index + 1) * BLOCK).min(x.nrows()));
        let points = Scaled::mapped(x, start..end, posterior.map.as_ref(), &posterior.inverse_lengths);
        let (mut cross, mut shrunk) = (Mat::zeros(m, end - start), Mat::zeros(m, end - start));
        let (kernel, variance) = (posterior.kernel, posterior.variance);
        posterior.inducing.covariance(&points, kernel, variance, cross.as_mut());
        matmul(&mut shrunk, Accum::Replace, &posterior.shrink, &cross, 1.0, Par::Seq);
        let gains = posterior.fantasies.as_ref().map(|fantasies| fantasies.gains(posterior, &points, &cross));
        let one = |i| {
            let k: &[f64] = cross.col_as_slice(i);
            let gain = gains.as_ref().map_or(0.0, |gains| gains[i]);
            (dot(k, &posterior.weights), variance - dot(k, shrunk.col_as_slice(i)) - gain)
        };
        (0..end - start).map(one).collect::<Vec<(f64, f64)>>()
    };
    let blocks: Vec<_> = (0..x.nrows().div_ceil(BLOCK)).into_par_iter().map(block).collect();
    let (mean, variance) = blocks.into_iter().flatten().unzip();
    Posterior { mean, variance, noise: posterior.noise }
}
