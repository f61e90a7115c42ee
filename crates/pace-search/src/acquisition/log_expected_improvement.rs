//! [`LogExpectedImprovement`]: the logarithm of the expected improvement.

use serde::{Deserialize, Serialize};

use super::{Acquisition, by_mean_and_deviation};
use crate::numerics::normal::log_improvement;
use crate::surrogate::Posterior;

/// The logarithm of [`ExpectedImprovement`](super::ExpectedImprovement). It gives the same order, and does not underflow if
/// every candidate is expected to be far worse than the best (Ament et al. 2023).
///
/// ```text
/// log sd + log(u cdf(u) + pdf(u)),   u = (mean - best - xi) / sd
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogExpectedImprovement {
    /// Improvements below this count as none; 0 or more.
    pub xi: f64,
}

impl Acquisition for LogExpectedImprovement {
    fn score(&self, posterior: &Posterior, best: f64) -> Vec<f64> {
        by_mean_and_deviation(posterior, |mean, sd| {
            let gap = mean - best - self.xi;
            if sd > 0.0 { sd.ln() + log_improvement(gap / sd) } else { gap.max(0.0).ln() }
        })
    }
}
