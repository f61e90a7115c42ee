//! Predictions of a Gaussian process that is summarised by inducing points.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::Posterior;
use super::dense::dot;
use super::kernel::{Kernel, Scaled};
use super::shards::BLOCK;

/// With k the covariances of x and the inducing points: mean k^T weights, variance s - k^T shrink k.
#[derive(Clone, Debug)]
pub(crate) struct KernelPosterior {
    pub(crate) kernel: Kernel,
    /// A [K, D], where vectors are mapped first.
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
}

/// The posterior at rows of x [N, D]; rounding may leave a variance a little below 0.
pub(crate) fn predict(posterior: &KernelPosterior, x: MatRef<'_, f64>) -> Posterior {
    let m = posterior.inducing.len();
    let n_dims = posterior.map.as_ref().map_or(posterior.inverse_lengths.len(), Mat::ncols);
    assert_eq!(x.ncols(), n_dims, "{} columns, but the fit saw {n_dims}", x.ncols());
    let block = |index: usize| {
        let (start, end) = (index * BLOCK, ((index + 1) * BLOCK).min(x.nrows()));
        let points = Scaled::mapped(x, start..end, posterior.map.as_ref(), &posterior.inverse_lengths);
        let (mut cross, mut shrunk) = (Mat::zeros(m, end - start), Mat::zeros(m, end - start));
        let (kernel, variance) = (posterior.kernel, posterior.variance);
        posterior.inducing.covariance(&points, kernel, variance, cross.as_mut());
        matmul(&mut shrunk, Accum::Replace, &posterior.shrink, &cross, 1.0, Par::Seq);
        let one = |i| {
            let k: &[f64] = cross.col_as_slice(i);
            (dot(k, &posterior.weights), variance - dot(k, shrunk.col_as_slice(i)))
        };
        (0..end - start).map(one).collect::<Vec<(f64, f64)>>()
    };
    let blocks: Vec<_> = (0..x.nrows().div_ceil(BLOCK)).into_par_iter().map(block).collect();
    let (mean, variance) = blocks.into_iter().flatten().unzip();
    Posterior { mean, variance, noise: posterior.noise }
}
