//! The derivatives by length-scales, variance and inducing points, given that by each covariance.

use faer::linalg::matmul::matmul;
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Accum, Mat, MatMut, MatRef, Par};

use super::Scaled;

/// Sums over covariances k(z_j, x_i) from which the gradient follows.
///
/// With W = dF/dk * dk/dr^2 (elementwise) and all points scaled:
///
/// ```text
/// dF/dlog l_d = -2 sum_ij W_ji (x_id - z_jd)^2
/// dF/dz_jd    = -2 sum_i  W_ji (x_id - z_jd) / l_d
/// dF/dlog s   =    sum_ij dF/dk_ji k_ji
/// ```
///
/// Expanding the square leaves one matrix product W X, and sums of rows and columns of W.
#[derive(Clone, Debug)]
pub(crate) struct KernelGradient {
    /// W X [M, D].
    weighted: Mat<f64>,
    /// W 1 [M].
    row_sums: Vec<f64>,
    /// sum_i (sum_j W_ji) x_id^2 [D].
    squares: Vec<f64>,
    /// dF/dlog s of these covariances.
    log_variance: f64,
}

impl KernelGradient {
    pub(crate) fn zeros(n_inducing: usize, n_dims: usize) -> KernelGradient {
        KernelGradient {
            weighted: Mat::zeros(n_inducing, n_dims),
            row_sums: vec![0.0; n_inducing],
            squares: vec![0.0; n_dims],
            log_variance: 0.0,
        }
    }

    /// Adds the covariances of a block of points. `by_value` = dF/dk is overwritten by W. Matrices are [M, n].
    pub(crate) fn add(
        &mut self,
        mut by_value: MatMut<'_, f64>,
        values: MatRef<'_, f64>,
        slopes: MatRef<'_, f64>,
        points: &Scaled,
    ) {
        for (i, column) in by_value.rb_mut().col_iter_mut().enumerate() {
            let column = column.try_as_col_major_mut().expect("a matrix of our own is column-major").as_slice_mut();
            let values = values.col(i).try_as_col_major().expect("as above").as_slice();
            let slopes = slopes.col(i).try_as_col_major().expect("as above").as_slice();
            let (by_variance, sum) = weigh(column, values, slopes, &mut self.row_sums);
            self.log_variance += by_variance;
            let point = points.points().col(i);
            self.squares.iter_mut().zip(point.iter()).for_each(|(square, x)| *square += sum * x * x);
        }
        matmul(&mut self.weighted, Accum::Add, by_value.rb(), points.points().transpose(), 1.0, Par::Seq);
    }

    pub(crate) fn merge(&mut self, other: &KernelGradient) {
        self.weighted += &other.weighted;
        self.row_sums.iter_mut().zip(&other.row_sums).for_each(|(a, b)| *a += b);
        self.squares.iter_mut().zip(&other.squares).for_each(|(a, b)| *a += b);
        self.log_variance += other.log_variance;
    }

    pub(crate) fn log_variance(&self) -> f64 {
        self.log_variance
    }

    /// Adds to the gradients by log l [D] and by z [M, D]. `times` is 2 if the points are the inducing points themselves:
    /// then both ends of a distance move.
    pub(crate) fn finish(
        &self,
        inducing: &Scaled,
        inverse_lengths: &[f64],
        times: f64,
        log_lengths: &mut [f64],
        mut by_inducing: MatMut<'_, f64>,
    ) {
        for (d, &inverse) in inverse_lengths.iter().enumerate() {
            let mut sum = self.squares[d];
            for (j, row_sum) in self.row_sums.iter().enumerate() {
                let (z, weighted) = (inducing.points()[(d, j)], self.weighted[(j, d)]);
                sum += row_sum * z * z - 2.0 * z * weighted;
                by_inducing[(j, d)] -= 2.0 * times * inverse * (weighted - row_sum * z);
            }
            log_lengths[d] -= 2.0 * sum;
        }
    }
}

/// Replaces dF/dk by W in one column. Returns sum dF/dk k and sum W.
fn weigh(by_value: &mut [f64], values: &[f64], slopes: &[f64], row_sums: &mut [f64]) -> (f64, f64) {
    let n = by_value.len();
    let (values, slopes, row_sums) = (&values[..n], &slopes[..n], &mut row_sums[..n]);
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            // Eight partial sums: a single one would be a chain of dependent additions.
            let (mut variance, mut sum) = ([0.0; 8], [0.0; 8]);
            let whole = n - n % 8;
            for start in (0..whole).step_by(8) {
                for lane in 0..8 {
                    let j = start + lane;
                    variance[lane] += by_value[j] * values[j];
                    by_value[j] *= slopes[j];
                    sum[lane] += by_value[j];
                    row_sums[j] += by_value[j];
                }
            }
            for j in whole..n {
                variance[0] += by_value[j] * values[j];
                by_value[j] *= slopes[j];
                sum[0] += by_value[j];
                row_sums[j] += by_value[j];
            }
            (variance.iter().sum(), sum.iter().sum())
        },
    )
}
