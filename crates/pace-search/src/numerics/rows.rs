//! Some of the rows of a matrix.

use faer::{Mat, MatRef};
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

/// Some rows of x, in this order.
pub(crate) fn gather(x: MatRef<'_, f64>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), x.ncols(), |i, d| x[(rows[i], d)])
}

/// `amount` distinct numbers of `0..n`, or all of them if there are fewer, in random order.
pub(crate) fn sample_rows(n: usize, amount: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    index::sample(rng, n, amount.min(n)).into_vec()
}

/// A row of x.
pub(crate) fn to_vec(x: &Mat<f64>, row: usize) -> Vec<f64> {
    x.row(row).iter().copied().collect()
}
