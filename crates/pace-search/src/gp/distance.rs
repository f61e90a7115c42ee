//! The typical distance between vectors.

use faer::{Accum, Mat};

use crate::numerics::dense::dot;
use crate::numerics::product::dense_product;

/// The median squared distance over all pairs of rows, as numpy computes it; `None` if there are no pairs.
pub(crate) fn median_of_pairs(x: &Mat<f64>) -> Option<f64> {
    let points = x.transpose().to_owned();
    let norms: Vec<f64> = (0..x.nrows()).map(|i| dot(points.col_as_slice(i), points.col_as_slice(i))).collect();
    let mut products = Mat::zeros(x.nrows(), x.nrows());
    dense_product(&mut products, Accum::Replace, x, &points, 1.0);
    let mut distances: Vec<f64> = (1..x.nrows())
        .flat_map(|j| (0..j).map(move |i| (i, j)))
        .map(|(i, j)| (norms[i] + norms[j] - 2.0 * products[(i, j)]).max(0.0))
        .collect();
    if distances.is_empty() {
        return None;
    }
    let (n, middle) = (distances.len(), distances.len() / 2);
    let (below, &mut upper, _) = distances.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(if n % 2 == 1 { upper } else { 0.5 * (lower + upper) })
}
