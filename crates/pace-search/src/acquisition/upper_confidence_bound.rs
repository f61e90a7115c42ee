//! [`UpperConfidenceBound`]: the mean plus some standard deviations.

use serde::{Deserialize, Serialize};

use super::{Acquisition, by_mean_and_deviation};
use crate::surrogate::Posterior;

/// mean + kappa sd (Srinivas, Krause, Kakade & Seeger 2010); the best score so far does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UpperConfidenceBound {
    /// 0 only exploits; 2 is usual.
    pub kappa: f64,
}

impl Acquisition for UpperConfidenceBound {
    fn score(&self, posterior: &Posterior, _best: f64) -> Vec<f64> {
        by_mean_and_deviation(posterior, |mean, sd| mean + self.kappa * sd)
    }
}
