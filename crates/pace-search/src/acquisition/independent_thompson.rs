//! [`IndependentThompson`]: an independent draw from the belief about each candidate.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{Acquisition, by_mean_and_deviation};
use crate::surrogate::Posterior;

/// mean + sd e with e ~ N(0, 1), drawn for each candidate.
///
/// This is not full Thompson sampling (Thompson 1933), which draws one function: its values at similar candidates are
/// similar. Here a large pool of candidates acts like a larger kappa of
/// [`UpperConfidenceBound`](super::UpperConfidenceBound). A seed is one draw: score a pool in one call, and use another seed
/// for the next proposal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IndependentThompson {
    /// Seed of the draws.
    pub seed: u64,
}

impl Acquisition for IndependentThompson {
    fn score(&self, posterior: &Posterior, _best: f64) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        by_mean_and_deviation(posterior, |mean, sd| {
            let normal: f64 = StandardNormal.sample(&mut rng);
            mean + sd * normal
        })
    }
}
