//! The acquisition joint: how much an evaluation would be worth.
//!
//! An [`Acquisition`] sees nothing of a surrogate but its [`Posterior`]. Scores of vectors are maximised, and so are
//! acquisitions: the larger, the better to evaluate next.
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

/// The worth of an evaluation, given what is believed about its outcome.
pub trait Acquisition: Send + Sync {
    /// One number per vector of the posterior; larger is better to evaluate. `best` is the best score so far.
    ///
    /// A variance of zero gives the limit, not a NaN.
    fn score(&self, posterior: &Posterior, best: f64) -> Vec<f64>;
}

/// The acquisitions that our own commands know.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AcquisitionConfig {
    /// How much better than the best so far, on average.
    ExpectedImprovement(ExpectedImprovement),
    /// Its logarithm, which still tells candidates apart where all improvements are next to nothing.
    LogExpectedImprovement(LogExpectedImprovement),
    /// The mean and some standard deviations.
    UpperConfidenceBound(UpperConfidenceBound),
    /// A draw from the belief about each candidate on its own.
    IndependentThompson,
    /// Expected improvement as the published code has it.
    PublishedEi(PublishedEi),
}

impl AcquisitionConfig {
    /// The chosen acquisition; `seed` decides everything that is random.
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

/// `score` of the mean and the standard deviation of each vector.
fn by_mean_and_deviation(posterior: &Posterior, mut score: impl FnMut(f64, f64) -> f64) -> Vec<f64> {
    let pairs = posterior.mean.iter().zip(&posterior.variance);
    pairs.map(|(&mean, &variance)| score(mean, variance.max(0.0).sqrt())).collect()
}
