//! Where a fit starts: units, inducing points and length-scales.

use faer::{Accum, Mat, MatRef};
use rand::RngExt;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::dense::dot;
use super::product::dense_product;

/// Points among which the median distance is looked for.
const MEDIAN_POINTS: usize = 1000;

/// How the length-scales of the dimensions start, relative to one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LengthScaleInit {
    /// In proportion to the spread of each dimension: right when the scale of a dimension means nothing.
    PerDimension,
    /// All the same: right when a dimension that hardly varies hardly matters, as in the latent space of a VAE.
    Common,
}

/// How the inducing points start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InducingInit {
    /// A random subset of the rows.
    Random,
    /// Rows far from one another: each is drawn with a probability in proportion to its squared distance to the closest
    /// one drawn before (Arthur & Vassilvitskii 2007). Never draws the same point twice, so there may be fewer.
    Spread,
}

/// Shift and scale of each dimension.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Units {
    pub(crate) mean: Vec<f64>,
    pub(crate) scale: Vec<f64>,
}

impl Units {
    pub(crate) fn of(x: MatRef<'_, f64>, init: LengthScaleInit) -> Units {
        let n = x.nrows() as f64;
        let mean: Vec<f64> = x.col_iter().map(|column| column.iter().sum::<f64>() / n).collect();
        let square = |(column, mean): (faer::ColRef<'_, f64>, &f64)| {
            column.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / n
        };
        let mut variance: Vec<f64> = x.col_iter().zip(&mean).map(square).collect();
        if init == LengthScaleInit::Common {
            let common = variance.iter().sum::<f64>() / variance.len() as f64;
            variance.fill(common);
        }
        // A dimension that never varies keeps its unit: it adds nothing to any distance in the data.
        let scale = variance.iter().map(|&v| if v > f64::MIN_POSITIVE { v.sqrt() } else { 1.0 }).collect();
        Units { mean, scale }
    }

    pub(crate) fn apply(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        Mat::from_fn(x.nrows(), x.ncols(), |i, d| (x[(i, d)] - self.mean[d]) / self.scale[d])
    }

    pub(crate) fn undo(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        Mat::from_fn(x.nrows(), x.ncols(), |i, d| x[(i, d)] * self.scale[d] + self.mean[d])
    }
}

/// The rows of x.
pub(crate) fn gather(x: MatRef<'_, f64>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), x.ncols(), |i, d| x[(rows[i], d)])
}

/// `amount` distinct rows of `0..n`, or all of them, in random order.
pub(crate) fn sample_rows(n: usize, amount: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    index::sample(rng, n, amount.min(n)).into_vec()
}

/// The median squared distance between random rows of x; 1 where there is none.
pub(crate) fn median_squared_distance(x: MatRef<'_, f64>, rng: &mut ChaCha8Rng) -> f64 {
    let rows = sample_rows(x.nrows(), MEDIAN_POINTS, rng);
    match median_of_pairs(&gather(x, &rows)) {
        Some(median) if median > 0.0 => median,
        _ => 1.0,
    }
}

/// The median over all pairs of rows, as numpy computes it.
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

/// Rows of x that serve as first inducing points.
pub(crate) fn inducing_rows(x: MatRef<'_, f64>, amount: usize, init: InducingInit, rng: &mut ChaCha8Rng) -> Vec<usize> {
    match init {
        InducingInit::Random => sample_rows(x.nrows(), amount, rng),
        InducingInit::Spread => spread_rows(x, amount.min(x.nrows()), rng),
    }
}

fn spread_rows(x: MatRef<'_, f64>, amount: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let points = x.transpose().to_owned();
    let mut closest = vec![f64::INFINITY; x.nrows()];
    let mut rows = vec![rng.random_range(0..x.nrows())];
    loop {
        let last = points.col_as_slice(rows[rows.len() - 1]);
        for (i, closest) in closest.iter_mut().enumerate() {
            *closest = closest.min(squared_distance(points.col_as_slice(i), last));
        }
        let total: f64 = closest.iter().sum();
        if rows.len() == amount || total <= 0.0 {
            return rows;
        }
        let mut left = rng.random::<f64>() * total;
        let drawn = closest.iter().position(|&weight| {
            left -= weight;
            left < 0.0 && weight > 0.0
        });
        // Rounding may leave a rest after the last row.
        let last_possible = || closest.iter().rposition(|&weight| weight > 0.0).expect("the total is positive");
        rows.push(drawn.unwrap_or_else(last_possible));
    }
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            let mut sums = [0.0; 8];
            for (a, b) in a.chunks(8).zip(b.chunks(8)) {
                for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
                    *sum += (a - b) * (a - b);
                }
            }
            sums.iter().sum()
        },
    )
}
