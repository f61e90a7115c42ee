//! The derivative by a linear map of the vectors, given that by each covariance.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use super::Scaled;

/// Sums over covariances k(z_j, A x_i) from which dF/dA follows.
///
/// With W as in [`KernelGradient`](super::KernelGradient), p_i = A x_i and z_j in units of the length-scales l:
///
/// ```text
/// dF/dA_ke = 2 / l_k sum_ij W_ji (p_ik - z_jk) x_ie
///          = 2 / l_k ( sum_i (sum_j W_ji) p_ik x_ie  -  sum_j z_jk (W X)_je )
/// ```
#[derive(Clone, Debug)]
pub(crate) struct MapGradient {
    /// W X [M, D].
    weighted: Mat<f64>,
    /// sum_i (sum_j W_ji) p_i x_i^T [K, D].
    outer: Mat<f64>,
}

impl MapGradient {
    pub(crate) fn zeros(n_inducing: usize, n_mapped: usize, n_dims: usize) -> MapGradient {
        MapGradient { weighted: Mat::zeros(n_inducing, n_dims), outer: Mat::zeros(n_mapped, n_dims) }
    }

    /// Adds a block: W [M, n], the mapped points, and the original ones x [n, D].
    pub(crate) fn add(&mut self, weights: MatRef<'_, f64>, mapped: &Scaled, x: MatRef<'_, f64>) {
        matmul(&mut self.weighted, Accum::Add, weights, x, 1.0, Par::Seq);
        let sums: Vec<f64> = weights.col_iter().map(|column| column.iter().sum()).collect();
        let points = mapped.points();
        let summed = Mat::from_fn(points.nrows(), points.ncols(), |k, i| points[(k, i)] * sums[i]);
        matmul(&mut self.outer, Accum::Add, &summed, x, 1.0, Par::Seq);
    }

    pub(crate) fn merge(total: &mut Option<MapGradient>, part: Option<MapGradient>) {
        if let (Some(total), Some(part)) = (total, part) {
            total.weighted += &part.weighted;
            total.outer += &part.outer;
        }
    }

    /// dF/dA [K, D].
    pub(crate) fn finish(mut self, inducing: &Scaled, inverse_lengths: &[f64]) -> Mat<f64> {
        matmul(&mut self.outer, Accum::Add, inducing.points(), &self.weighted, -1.0, Par::Seq);
        Mat::from_fn(self.outer.nrows(), self.outer.ncols(), |k, e| 2.0 * inverse_lengths[k] * self.outer[(k, e)])
    }
}
