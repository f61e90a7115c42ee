//! Some of the rows of a matrix.

use faer::{Mat, MatRef};
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

/// The rows of x.
pub(crate) fn gather(x: MatRef<'_, f64>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), x.ncols(), |i, d| x[(rows[i], d)])
}

/// `amount` distinct rows of `0..n`, or all of them, in random order.
pub(crate) fn sample_rows(n: usize, amount: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    index::sample(rng, n, amount.min(n)).into_vec()
}

/// One row of x.
pub(crate) fn to_vec(x: &Mat<f64>, row: usize) -> Vec<f64> {
    x.row(row).iter().copied().collect()
}
