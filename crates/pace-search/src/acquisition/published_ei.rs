//! [`PublishedEi`]: expected improvement as in the published code, for comparison.

use serde::{Deserialize, Serialize};

use super::Acquisition;
use crate::numerics::normal::{cdf, pdf};
use crate::surrogate::Posterior;

/// With v the variance of an *observation*, used as if it were the standard deviation, and a 1 that does not belong there:
///
/// ```text
/// v (u cdf(u) + 1 + pdf(u)),   u = (mean - target) / v
/// ```
///
/// If the mean is far below the target this is v, so the most uncertain candidate comes first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedEi {
    /// Replaces the best score so far; 1 in the published code.
    pub target: f64,
}

impl Default for PublishedEi {
    fn default() -> PublishedEi {
        PublishedEi { target: 1.0 }
    }
}

impl Acquisition for PublishedEi {
    fn score(&self, posterior: &Posterior, _best: f64) -> Vec<f64> {
        let one = |(mean, variance): (&f64, &f64)| {
            let (gap, v) = (mean - self.target, variance.max(0.0) + posterior.noise);
            if v > 0.0 { gap * cdf(gap / v) + v * (1.0 + pdf(gap / v)) } else { gap.max(0.0) }
        };
        posterior.mean.iter().zip(&posterior.variance).map(one).collect()
    }
}
