//! [`Dngo`]: Bayesian linear regression on the last hidden layer of a network (Snoek et al. 2015).
//!
//! A network is trained on the scores. Its last hidden layer phi(x) is the basis of a [`BayesianRegression`], which gives the
//! uncertainty. The time of a fit and of a prediction is linear in the number of rows, so a pool of some hundred thousand
//! vectors can be searched.
//!
//! ```
//! use pace_search::Matrix;
//! use pace_search::surrogate::{DngoConfig, Surrogate, SurrogateSettings};
//! let x = Matrix::from_fn(40, 1, |row, _| row as f64 / 10.0);
//! let y: Vec<f64> = x.col(0).iter().map(|x| x.sin()).collect();
//! let dngo = DngoConfig::default().fit(x.as_ref(), &y, 0)?;
//! let posterior = dngo.predict(Matrix::from_fn(1, 1, |_, _| 2.15).as_ref());
//! assert!((posterior.mean[0] - 2.15_f64.sin()).abs() < 0.1);
//! # Ok::<(), pace_search::Error>(())
//! ```

use serde::{Deserialize, Serialize};

mod evidence;
mod fit;
mod held_out;
mod loss;
mod member;
mod mixture;
mod network;
mod regression;
mod tanh;
mod train;
mod units;

pub use evidence::Evidence;
pub use loss::Loss;
pub use mixture::Dngo;
pub use regression::BayesianRegression;

/// How to fit a [`Dngo`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DngoConfig {
    /// H: the number of units of each hidden layer. All are tanh.
    pub width: usize,
    /// The number of hidden layers.
    pub depth: usize,
    /// The loss of the network.
    pub loss: Loss,
    /// Passes over the rows.
    pub epochs: usize,
    /// Rows per step of Adam; `None` for all.
    pub batch: Option<usize>,
    /// The learning rate of Adam at the start.
    pub learning_rate: f64,
    /// Whether the learning rate decays to zero along half a cosine.
    pub cosine_decay: bool,
    /// Weight decay: a step of size 1 removes this share of the weights.
    pub weight_decay: f64,
    /// Whether to standardise scores before the fit, and to undo that in the posterior.
    pub standardise_targets: bool,
    /// Whether the regression has a constant in addition to the basis.
    pub bias: bool,
    /// How the precisions of the regression are chosen.
    pub evidence: Evidence,
    /// The number of networks. The belief is their mixture with equal weights.
    pub ensemble: usize,
}

impl Default for DngoConfig {
    fn default() -> DngoConfig {
        DngoConfig {
            width: 128,
            depth: 3,
            loss: Loss::Squared,
            epochs: 100,
            batch: None,
            learning_rate: 3e-3,
            cosine_decay: true,
            weight_decay: 0.0,
            standardise_targets: true,
            bias: true,
            evidence: Evidence::CrossValidated { folds: 5 },
            ensemble: 1,
        }
    }
}

impl DngoConfig {
    /// The settings of the published searches, with their mistakes.
    pub fn published() -> DngoConfig {
        DngoConfig {
            epochs: 30,
            batch: Some(10),
            learning_rate: 0.01,
            cosine_decay: false,
            standardise_targets: false,
            bias: false,
            evidence: Evidence::Published,
            ..DngoConfig::default()
        }
    }
}
