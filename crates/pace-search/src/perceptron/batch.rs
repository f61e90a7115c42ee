//! [`Batch`]: predictions and gradient of a [`Network`] for many rows.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

use super::network::{Network, add_scaled, dot, silu};
use super::rows::SparseRows;

/// Buffers for the two hidden layers of a batch, one column `[H]` per row of features.
pub(crate) struct Batch {
    values: [Mat<f32>; 2],
    slopes: [Mat<f32>; 2],
    errors: [Mat<f32>; 2],
}

impl Batch {
    pub(crate) fn new(width: usize, max_rows: usize) -> Batch {
        let pair = || [Mat::zeros(width, max_rows), Mat::zeros(width, max_rows)];
        Batch { values: pair(), slopes: pair(), errors: pair() }
    }

    /// f(x) of the rows with these indices, at most as many as the buffers hold.
    pub(crate) fn predict(&mut self, network: &Network, rows: &SparseRows, indices: &[usize]) -> Vec<f32> {
        let (view, width, n) = (network.view(), network.width(), indices.len());
        let [first, second] = &mut self.values;
        let [first_slope, second_slope] = &mut self.slopes;
        for (column, &index) in indices.iter().enumerate() {
            let sum = first.col_as_slice_mut(column);
            sum.copy_from_slice(view.b1);
            for &(feature, value) in rows.row(index) {
                add_scaled(sum, &view.w1[usize::from(feature) * width..][..width], value);
            }
            activate(sum, first_slope.col_as_slice_mut(column));
            second.col_as_slice_mut(column).copy_from_slice(view.b2);
        }
        // W2 is (from, to) by rows, which is (to, from) by columns.
        let w2 = MatRef::from_column_major_slice(view.w2, width, width);
        matmul(second.subcols_mut(0, n), Accum::Add, w2, first.subcols(0, n), 1.0, Par::Seq);
        let read_out = |column| {
            let sum = second.col_as_slice_mut(column);
            activate(sum, second_slope.col_as_slice_mut(column));
            view.b3[0] + dot(sum, view.w3)
        };
        (0..n).map(read_out).collect()
    }

    /// Adds the sum of `errors[i] * df(x_i)/dparameters` at the rows of the last [`Batch::predict`] to `gradient`.
    pub(crate) fn backward(
        &mut self,
        network: &Network,
        rows: &SparseRows,
        indices: &[usize],
        errors: &[f32],
        gradient: &mut [f32],
    ) {
        let (view, width, n) = (network.view(), network.width(), indices.len());
        let slope = network.view_mut(gradient);
        let [first_error, second_error] = &mut self.errors;
        for (column, &error) in errors.iter().enumerate() {
            slope.b3[0] += error;
            add_scaled(slope.w3, self.values[1].col_as_slice(column), error);
            let slopes = self.slopes[1].col_as_slice(column);
            let out = second_error.col_as_slice_mut(column);
            for ((out, &weight), &slope) in out.iter_mut().zip(view.w3).zip(slopes) {
                *out = error * weight * slope;
            }
            add_scaled(slope.b2, out, 1.0);
        }
        let second_error = second_error.subcols(0, n);
        let w2_slope = MatMut::from_column_major_slice_mut(slope.w2, width, width);
        let first = self.values[0].subcols(0, n);
        matmul(w2_slope, Accum::Add, second_error, first.transpose(), 1.0, Par::Seq);
        let w2 = MatRef::from_column_major_slice(view.w2, width, width);
        matmul(first_error.subcols_mut(0, n), Accum::Replace, w2.transpose(), second_error, 1.0, Par::Seq);
        for (column, &index) in indices.iter().enumerate() {
            let error = first_error.col_as_slice_mut(column);
            error.iter_mut().zip(self.slopes[0].col_as_slice(column)).for_each(|(error, slope)| *error *= slope);
            add_scaled(slope.b1, error, 1.0);
            for &(feature, value) in rows.row(index) {
                add_scaled(&mut slope.w1[usize::from(feature) * width..][..width], error, value);
            }
        }
    }
}

/// Replaces z by s(z) and stores s'(z).
fn activate(values: &mut [f32], slopes: &mut [f32]) {
    for (value, slope) in values.iter_mut().zip(slopes) {
        (*value, *slope) = silu(*value);
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::perceptron::network::Workspace;

    fn rows() -> SparseRows {
        let mut rows = SparseRows::default();
        rows.push([(0, 1.0), (3, -0.5)]);
        rows.push([(1, 2.0), (2, 0.25), (4, 1.0)]);
        rows.push([]);
        rows
    }

    #[test]
    fn a_batch_predicts_what_single_rows_do() {
        let (rows, mut work) = (rows(), Workspace::new(11));
        let network = Network::random(5, 11, 1.0, &mut ChaCha8Rng::seed_from_u64(3));
        let found = Batch::new(11, 4).predict(&network, &rows, &[2, 0, 1]);
        for (index, found) in [2, 0, 1].into_iter().zip(found) {
            let wanted = network.predict(rows.row(index), &mut work);
            assert!((found - wanted).abs() < 1e-6, "{index}: {found} is not {wanted}");
        }
    }

    #[test]
    fn gradient_is_that_of_finite_differences() {
        let (rows, indices, errors) = (rows(), [0, 1, 2], [1.0, -0.5, 2.0]);
        let mut network = Network::random(5, 11, 1.0, &mut ChaCha8Rng::seed_from_u64(3));
        let mut batch = Batch::new(11, 3);
        let mut gradient = vec![0.0; network.parameters().len()];
        batch.predict(&network, &rows, &indices);
        batch.backward(&network, &rows, &indices, &errors, &mut gradient);
        for (parameter, &wanted) in gradient.iter().enumerate() {
            let mut shifted = |by: f32| {
                let old = network.parameters()[parameter];
                network.parameters_mut()[parameter] = old + by;
                let values = batch.predict(&network, &rows, &indices);
                network.parameters_mut()[parameter] = old;
                values.iter().zip(errors).map(|(value, error)| value * error).sum::<f32>()
            };
            let slope = (shifted(1e-2) - shifted(-1e-2)) / 2e-2;
            assert!((slope - wanted).abs() < 4e-3, "{parameter}: {slope} is not {wanted}");
        }
    }
}
