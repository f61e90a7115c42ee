//! STAND-IN, to be dropped on merging: the acquisition joint with expected improvement only.

use serde::{Deserialize, Serialize};

use crate::surrogate::Posterior;

/// How much one wants to try a candidate, given what is believed about it.
pub trait Acquisition: Send + Sync {
    /// One number per vector of the posterior; larger is better. `best` is the highest score so far.
    fn score(&self, posterior: &Posterior, best: f64) -> Vec<f64>;
}

/// The acquisitions that our own commands know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AcquisitionConfig {
    /// Expected improvement.
    Ei,
}

impl AcquisitionConfig {
    /// The acquisition; `seed` decides everything that is random.
    pub fn build(&self, _seed: u64) -> Box<dyn Acquisition> {
        Box::new(Ei)
    }
}

struct Ei;

impl Acquisition for Ei {
    fn score(&self, posterior: &Posterior, best: f64) -> Vec<f64> {
        let ei = |(mean, variance): (&f64, &f64)| {
            let (sigma, gain) = (variance.sqrt().max(1e-12), mean - best);
            let u = gain / sigma;
            let pdf = (-0.5 * u * u).exp() / (2.0 * std::f64::consts::PI).sqrt();
            gain * cdf(u) + sigma * pdf
        };
        posterior.mean.iter().zip(&posterior.variance).map(ei).collect()
    }
}

/// Abramowitz & Stegun 26.2.17.
fn cdf(u: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.2316419 * u.abs());
    let poly = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
    let tail = (-0.5 * u * u).exp() / (2.0 * std::f64::consts::PI).sqrt() * poly;
    if u >= 0.0 { 1.0 - tail } else { tail }
}
