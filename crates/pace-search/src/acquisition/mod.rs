//! The acquisition joint: how much it is worth to evaluate a vector.
//!
//! An [`Acquisition`] sees only the [`Posterior`] of a surrogate. Searches maximise scores, and they evaluate next what has
//! the largest acquisition.
//!
//! ```
//! use pace_search::acquisition::{Acquisition, ExpectedImprovement};
//! use pace_search::surrogate::Posterior;
//! let posterior = Posterior { mean: vec![0.0, -1.0], variance: vec![1.0, 1.0], noise: 0.1 };
//! let scores = ExpectedImprovement { xi: 0.0 }.score(&posterior, 0.0);
//! assert!((scores[0] - 0.398_942_280_401_432_7).abs() < 1e-15 && scores[0] > scores[1]);
//! ```

use serde::{Deserialize, Serialize};

use crate::surrogate::Posterior;

mod expected_improvement;
mod independent_thompson;
mod log_expected_improvement;
mod published_ei;
mod upper_confidence_bound;

pub use expected_improvement::ExpectedImprovement;
pub use independent_thompson::IndependentThompson;
pub use log_expected_improvement::LogExpectedImprovement;
pub use published_ei::PublishedEi;
pub use upper_confidence_bound::UpperConfidenceBound;

/// The worth of an evaluation, given the belief about its outcome.
pub trait Acquisition: Send + Sync {
    /// One number per vector of the posterior: the larger, the more it is worth to evaluate. `best` is the best score so far.
    ///
    /// A variance of zero gives the limit, not NaN.
    fn score(&self, posterior: &Posterior, best: f64) -> Vec<f64>;
}

/// The configuration of any acquisition.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AcquisitionConfig {
    /// The expected improvement over the best score so far.
    ExpectedImprovement(ExpectedImprovement),
    /// Its logarithm, which still distinguishes candidates if all improvements are tiny.
    LogExpectedImprovement(LogExpectedImprovement),
    /// The mean plus some standard deviations.
    UpperConfidenceBound(UpperConfidenceBound),
    /// An independent draw from the belief about each candidate.
    IndependentThompson,
    /// Expected improvement as in the published code.
    PublishedEi(PublishedEi),
}

impl AcquisitionConfig {
    /// The acquisition. `seed` determines everything random.
    pub fn build(&self, seed: u64) -> Box<dyn Acquisition> {
        match *self {
            AcquisitionConfig::ExpectedImprovement(acquisition) => Box::new(acquisition),
            AcquisitionConfig::LogExpectedImprovement(acquisition) => Box::new(acquisition),
            AcquisitionConfig::UpperConfidenceBound(acquisition) => Box::new(acquisition),
            AcquisitionConfig::IndependentThompson => Box::new(IndependentThompson { seed }),
            AcquisitionConfig::PublishedEi(acquisition) => Box::new(acquisition),
        }
    }
}

/// Applies `score` to the mean and the standard deviation of each vector.
fn by_mean_and_deviation(posterior: &Posterior, mut score: impl FnMut(f64, f64) -> f64) -> Vec<f64> {
    let pairs = posterior.mean.iter().zip(&posterior.variance);
    pairs.map(|(&mean, &variance)| score(mean, variance.max(0.0).sqrt())).collect()
}
