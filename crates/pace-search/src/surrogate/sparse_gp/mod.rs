//! [`SparseGp`]: a Gaussian process summarised by inducing points, fitted by maximising a collapsed bound.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::gp::kernel::Kernel;

mod bound;
mod fit;
mod learn;
mod model;
mod start;

pub use bound::{Bound, Evaluation, Hyperparameters};
pub use model::SparseGp;
pub use start::{InducingInit, LengthScaleInit};

/// How the distance of two vectors is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// A length-scale per dimension.
    Ard,
    /// A linear map, learnt with the rest, and length-scales after it (Vivarelli & Williams 1999): right when the
    /// dimensions have no meaning of their own, as in the latent space of a VAE, which may be turned at will.
    Linear,
}

/// How to fit a [`SparseGp`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SparseGpConfig {
    /// Shape of the covariance.
    pub kernel: Kernel,
    /// What is maximised.
    pub bound: Bound,
    /// M; at most the number of rows is used.
    pub n_inducing: usize,
    /// Where the inducing points start.
    pub inducing_init: InducingInit,
    /// Whether they then move.
    pub learn_inducing: bool,
    /// What distances are measured in.
    pub metric: Metric,
    /// Where the length-scales start.
    pub length_init: LengthScaleInit,
    /// Learn on so many random rows (nothing: on all); the posterior uses all rows in any case.
    pub subset: Option<usize>,
    /// Iterations of L-BFGS on the subset.
    pub max_iterations: usize,
    /// Iterations after that on all rows; without a subset they do nothing.
    pub refine_iterations: usize,
    /// Stop when an iteration gains less than this, relative to the bound.
    pub tolerance: f64,
    /// Pairs that L-BFGS remembers.
    pub memory: usize,
    /// Smallest jitter on Kmm, relative to the signal variance.
    pub jitter: f64,
    /// Model y minus its mean, and add the mean back.
    pub center: bool,
}

impl Default for SparseGpConfig {
    fn default() -> SparseGpConfig {
        SparseGpConfig {
            kernel: Kernel::Rbf,
            bound: Bound::Vfe,
            n_inducing: 500,
            inducing_init: InducingInit::Spread,
            learn_inducing: true,
            metric: Metric::Ard,
            length_init: LengthScaleInit::PerDimension,
            subset: None,
            max_iterations: 60,
            refine_iterations: 0,
            tolerance: 1e-6,
            memory: 20,
            jitter: 1e-6,
            center: true,
        }
    }
}

impl SparseGpConfig {
    /// Learns on 4,000 rows in 30 iterations: on raw NA an eighth of the time of the default, and 6 % more error.
    pub fn quick() -> SparseGpConfig {
        SparseGpConfig { subset: Some(4000), max_iterations: 30, ..SparseGpConfig::default() }
    }

    fn check(&self) -> Result<(), Error> {
        let bad = |name, value: String, range| Err(Error::BadSetting { name, value, range });
        match self {
            SparseGpConfig { n_inducing: 0, .. } => bad("n_inducing", "0".to_owned(), "a fit needs at least 1"),
            SparseGpConfig { subset: Some(0), .. } => bad("subset", "0".to_owned(), "a fit needs at least 1 row"),
            SparseGpConfig { jitter, .. } if !(0.0..=1e-2).contains(jitter) => {
                bad("jitter", jitter.to_string(), "it lies in 0..=0.01")
            }
            _ => Ok(()),
        }
    }
}
