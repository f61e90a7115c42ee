//! The start of a fit: units, inducing points, length-scales, variances.

use faer::{Mat, MatRef};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::bound::{Hyperparameters, Problem};
use super::{Metric, SparseGpConfig};
use crate::gp::median_of_pairs;
use crate::numerics::dense::dot;
use crate::numerics::rows::{gather, sample_rows};
use crate::numerics::units::Units;

/// The noise starts at this share of the variance of y.
const NOISE_SHARE: f64 = 0.1;
/// The number of points for the median distance.
const MEDIAN_POINTS: usize = 1000;

/// The first length-scales of the dimensions, relative to one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LengthScaleInit {
    /// Proportional to the standard deviation of each dimension. Use it if the scale of a dimension means nothing.
    PerDimension,
    /// All the same. Use it if a dimension that hardly varies hardly matters, as in the latent space of a VAE.
    Common,
}

impl LengthScaleInit {
    /// The units in which all first length-scales are equal.
    pub(super) fn units(self, x: MatRef<'_, f64>) -> Units {
        match self {
            LengthScaleInit::PerDimension => Units::per_dimension(x),
            LengthScaleInit::Common => Units::common(x),
        }
    }
}

/// The first inducing points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InducingInit {
    /// A random subset of the rows.
    Random,
    /// Rows far from one another. Each is drawn with a probability proportional to its squared distance to the closest row
    /// drawn before (Arthur & Vassilvitskii 2007). No point is drawn twice, so there may be fewer.
    Spread,
}

impl SparseGpConfig {
    pub(super) fn start(&self, problem: Problem<'_>, rng: &mut ChaCha8Rng) -> Hyperparameters {
        let map = match self.metric {
            Metric::Ard => None,
            // As ARD starts. Whitening was worse on latents of NA, whose axes do have a meaning.
            Metric::Linear => Some(Mat::identity(problem.x.ncols(), problem.x.ncols())),
        };
        let x = problem.x;
        let rows = inducing_rows(x, self.n_inducing, self.inducing_init, rng);
        // At the median distance the covariance starts at s / e.
        let log_length = 0.5 * (0.5 * median_squared_distance(x, rng)).ln();
        let variance = variance(problem.y);
        Hyperparameters {
            log_lengths: vec![log_length; x.ncols()],
            log_variance: variance.ln(),
            log_noise: (NOISE_SHARE * variance).ln(),
            inducing: gather(x, &rows),
            map,
        }
    }
}

/// The mean square of y, whose mean was subtracted; 1 if it is 0.
pub(super) fn variance(y: &[f64]) -> f64 {
    match dot(y, y) / y.len() as f64 {
        variance if variance > 0.0 => variance,
        _ => 1.0,
    }
}

/// The median squared distance between random rows of x; 1 if it is 0 or there is one row.
fn median_squared_distance(x: MatRef<'_, f64>, rng: &mut ChaCha8Rng) -> f64 {
    let rows = sample_rows(x.nrows(), MEDIAN_POINTS, rng);
    match median_of_pairs(&gather(x, &rows)) {
        Some(median) if median > 0.0 => median,
        _ => 1.0,
    }
}

/// The rows of x that become the first inducing points.
fn inducing_rows(x: MatRef<'_, f64>, amount: usize, init: InducingInit, rng: &mut ChaCha8Rng) -> Vec<usize> {
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
        // Rounding may leave a remainder after the last row.
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
