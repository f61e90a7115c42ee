//! [`ExpectedImprovement`]: the mean improvement over the best score so far.

use serde::{Deserialize, Serialize};

use super::{Acquisition, by_mean_and_deviation};
use crate::numerics::normal::improvement;
use crate::surrogate::Posterior;

/// The expected improvement over best + xi (Mockus 1975; Jones, Schonlau & Welch 1998).
///
/// ```text
/// E max(f - best - xi, 0) = sd (u cdf(u) + pdf(u)),   u = (mean - best - xi) / sd
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExpectedImprovement {
    /// Improvements below this count as none; 0 or more.
    pub xi: f64,
}

impl Acquisition for ExpectedImprovement {
    fn score(&self, posterior: &Posterior, best: f64) -> Vec<f64> {
        by_mean_and_deviation(posterior, |mean, sd| {
            let gap = mean - best - self.xi;
            if sd > 0.0 { sd * improvement(gap / sd) } else { gap.max(0.0) }
        })
    }
}
