//! The surrogate joint: a cheap model of the oracle, with its uncertainty.
//!
//! A configuration ([`SurrogateSettings`]) is fitted to vectors and their scores. The result is a [`Surrogate`], which gives a
//! [`Posterior`] for other vectors. Scores should have mean 0 and standard deviation 1. [`Dngo`] standardises them itself.
//!
//! ```
//! use pace_search::Matrix;
//! use pace_search::surrogate::{SparseGpConfig, Surrogate, SurrogateSettings};
//! let x = Matrix::from_fn(30, 1, |row, _| row as f64 / 5.0);
//! let y: Vec<f64> = x.col(0).iter().map(|x| x.sin()).collect();
//! let gp = SparseGpConfig { n_inducing: 12, ..SparseGpConfig::default() }.fit(x.as_ref(), &y, 0)?;
//! let posterior = gp.predict(Matrix::from_fn(1, 1, |_, _| 2.1).as_ref());
//! assert!((posterior.mean[0] - 2.1_f64.sin()).abs() < 0.01);
//! # Ok::<(), pace_search::Error>(())
//! ```

use faer::MatRef;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::matrix::widen_ref;

mod additive_gp;
mod dngo;
mod published_gp;
mod sparse_gp;

pub use crate::gp::kernel::Kernel;
pub use additive_gp::{AdditiveGp, AdditiveGpConfig, Parts};
pub use dngo::{BayesianRegression, Dngo, DngoConfig, Evidence, Loss};
pub use published_gp::{PublishedEnergy, PublishedGp, PublishedGpConfig, PublishedParameters};
pub use sparse_gp::{
    Bound, Evaluation, Hyperparameters, InducingInit, LengthScaleInit, Metric, SparseGp, SparseGpConfig,
};

/// Rows that are converted to double precision at a time.
const F32_BLOCK: usize = 16_384;

/// The belief of a surrogate about the scores of some vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// Expected score, one per vector.
    pub mean: Vec<f64>,
    /// Variance of the noise-free score, one per vector.
    pub variance: Vec<f64>,
    /// Variance of an observation around the noise-free score.
    pub noise: f64,
}

/// A fitted model of the score.
pub trait Surrogate: Send + Sync {
    /// The belief about every row of `x`.
    ///
    /// # Shapes
    /// x [N, D] with D as in the fit; every vector of the posterior has length N.
    ///
    /// # Panics
    /// If D differs.
    fn predict(&self, x: MatRef<'_, f64>) -> Posterior;

    /// The expected score of every row of `x`, without variances if that is cheaper.
    ///
    /// # Panics
    /// If D differs from that of the fit.
    fn predict_mean(&self, x: MatRef<'_, f64>) -> Vec<f64> {
        self.predict(x).mean
    }

    /// As [`predict`](Self::predict), for vectors in single precision. It does not copy a large pool as a whole.
    fn predict_f32(&self, x: MatRef<'_, f32>) -> Posterior {
        let mut whole = Posterior { mean: Vec::new(), variance: Vec::new(), noise: 0.0 };
        // At least one block, for the noise.
        for start in (0..x.nrows().max(1)).step_by(F32_BLOCK) {
            let n = F32_BLOCK.min(x.nrows() - start);
            let part = self.predict(widen_ref(x.subrows(start, n)).as_ref());
            whole.mean.extend(part.mean);
            whole.variance.extend(part.variance);
            whole.noise = part.noise;
        }
        whole
    }

    /// The belief after the rows of `x` [n, D] were observed with their expected scores as values: the mean stays the same,
    /// the variance shrinks. This spreads out a batch of queries (the "kriging believer" of Ginsbourger, Le Riche & Carraro
    /// 2010).
    ///
    /// # Panics
    /// If D differs from that of the fit.
    fn fantasise(&self, x: MatRef<'_, f64>) -> Box<dyn Surrogate>;

    /// The same model after other data, x [N, D] and y `[N]`: what it has learnt about the shape of the scores stays. It costs
    /// less than a fit. `None` if the surrogate has nothing that could stay.
    ///
    /// # Panics
    /// If D differs from that of the fit.
    fn refit(&self, _x: MatRef<'_, f64>, _y: &[f64]) -> Option<Result<Box<dyn Surrogate>, Error>> {
        None
    }

    /// The belief about x `[D]` and its derivative by x; `None` if the surrogate has no derivative.
    fn gradient(&self, _x: &[f64]) -> Option<PosteriorGradient> {
        None
    }
}

impl<S: Surrogate + ?Sized> Surrogate for Box<S> {
    fn predict(&self, x: MatRef<'_, f64>) -> Posterior {
        (**self).predict(x)
    }

    fn predict_mean(&self, x: MatRef<'_, f64>) -> Vec<f64> {
        (**self).predict_mean(x)
    }

    fn predict_f32(&self, x: MatRef<'_, f32>) -> Posterior {
        (**self).predict_f32(x)
    }

    fn fantasise(&self, x: MatRef<'_, f64>) -> Box<dyn Surrogate> {
        (**self).fantasise(x)
    }

    fn refit(&self, x: MatRef<'_, f64>, y: &[f64]) -> Option<Result<Box<dyn Surrogate>, Error>> {
        (**self).refit(x, y)
    }

    fn gradient(&self, x: &[f64]) -> Option<PosteriorGradient> {
        (**self).gradient(x)
    }
}

/// The belief about one vector, with its derivatives by the vector.
#[derive(Clone, Debug, PartialEq)]
pub struct PosteriorGradient {
    /// Expected score.
    pub mean: f64,
    /// Variance of the noise-free score.
    pub variance: f64,
    /// Derivative of the mean `[D]`.
    pub by_mean: Vec<f64>,
    /// Derivative of the variance `[D]`.
    pub by_variance: Vec<f64>,
}

/// A step of a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Steps done.
    pub step: usize,
    /// Steps planned. A fit may stop earlier.
    pub n_steps: usize,
    /// The objective per row of data, which is maximised.
    pub objective: f64,
}

/// A callback that gets every step of a fit.
pub type Report<'a> = &'a mut dyn FnMut(Progress);

/// The configuration of a surrogate, which can be fitted to data.
pub trait SurrogateSettings {
    /// The result of a fit.
    type Surrogate: Surrogate + 'static;

    /// Fits to vectors x [N, D] and scores y `[N]`, and reports its steps. `seed` determines everything random.
    fn fit_with(&self, x: MatRef<'_, f64>, y: &[f64], seed: u64, report: Report<'_>) -> Result<Self::Surrogate, Error>;

    /// As [`fit_with`](Self::fit_with), without reports.
    fn fit(&self, x: MatRef<'_, f64>, y: &[f64], seed: u64) -> Result<Self::Surrogate, Error> {
        self.fit_with(x, y, seed, &mut |_| {})
    }
}

/// Lists the surrogates by their configurations.
macro_rules! surrogates {
    ($($(#[$doc:meta])* $variant:ident($config:ident),)+) => {
        /// The configuration of any surrogate.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum SurrogateConfig {
            $($(#[$doc])* $variant($config),)+
        }

        impl SurrogateSettings for SurrogateConfig {
            type Surrogate = Box<dyn Surrogate>;

            fn fit_with(
                &self,
                x: MatRef<'_, f64>,
                y: &[f64],
                seed: u64,
                report: Report<'_>,
            ) -> Result<Box<dyn Surrogate>, Error> {
                Ok(match self {
                    $(SurrogateConfig::$variant(config) => Box::new(config.fit_with(x, y, seed, report)?),)+
                })
            }
        }
    };
}

surrogates! {
    /// Sparse Gaussian process with a collapsed bound.
    SparseGp(SparseGpConfig),
    /// The sparse Gaussian process of the published results.
    PublishedGp(PublishedGpConfig),
    /// Exact Gaussian process with a covariance that is a sum over nodes.
    AdditiveGp(AdditiveGpConfig),
    /// Bayesian linear regression on the last layer of a network.
    Dngo(DngoConfig),
}
