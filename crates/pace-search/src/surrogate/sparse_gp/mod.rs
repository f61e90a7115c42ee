//! [`SparseGp`]: a Gaussian process with inducing points, which maximises a collapsed bound.

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

/// The distance of two vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// One length-scale per dimension.
    Ard,
    /// A learnt linear map, and length-scales after it (Vivarelli & Williams 1999). Use it if the dimensions have no meaning of
    /// their own, as in the latent space of a VAE, which can be rotated.
    Linear,
}

/// How to fit a [`SparseGp`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SparseGpConfig {
    /// The shape of the covariance.
    pub kernel: Kernel,
    /// The objective, which is maximised.
    pub bound: Bound,
    /// M, the number of inducing points; at most the number of rows.
    pub n_inducing: usize,
    /// The first inducing points.
    pub inducing_init: InducingInit,
    /// Whether the inducing points are learnt.
    pub learn_inducing: bool,
    /// The distance of two vectors.
    pub metric: Metric,
    /// The first length-scales.
    pub length_init: LengthScaleInit,
    /// The number of random rows to learn on; `None` for all. The posterior uses all rows in any case.
    pub subset: Option<usize>,
    /// Iterations of L-BFGS on these rows.
    pub max_iterations: usize,
    /// Iterations after that on all rows. Not used without a subset.
    pub refine_iterations: usize,
    /// The fit stops if an iteration gains less than this, relative to the bound.
    pub tolerance: f64,
    /// The number of pairs that L-BFGS stores.
    pub memory: usize,
    /// The smallest jitter on Kmm, relative to the signal variance.
    pub jitter: f64,
    /// Whether to subtract the mean of y before the fit, and to add it to predictions.
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
    /// Learns on 4,000 rows in 30 iterations. On raw NA that takes an eighth of the time of the default, with 6 % more error.
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
