//! [`Dngo`]: Bayesian linear regression on the last hidden layer of a network (Snoek et al. 2015).
//!
//! A network is trained on the scores; its last hidden layer phi(x) then serves as a basis, and a
//! [`BayesianRegression`] on it says how sure to be. A fit is linear in the number of rows, and so is a prediction:
//! that is what makes a pool of some hundred thousand vectors searchable.
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
    /// H: units of each hidden layer, all tanh.
    pub width: usize,
    /// Hidden layers.
    pub depth: usize,
    /// What the network is trained on.
    pub loss: Loss,
    /// Passes over the rows.
    pub epochs: usize,
    /// Rows of a step of Adam (nothing: all); at most the number of rows is used.
    pub batch: Option<usize>,
    /// Of Adam, at the start.
    pub learning_rate: f64,
    /// Let the learning rate fall to zero along half a cosine.
    pub cosine_decay: bool,
    /// Share of the weights that a step of size 1 takes away.
    pub weight_decay: f64,
    /// Model scores of mean 0 and variance 1, and undo that in the posterior.
    pub standardise_targets: bool,
    /// Give the regression a constant besides the basis.
    pub bias: bool,
    /// How the precisions of the regression are found.
    pub evidence: Evidence,
    /// Networks; the belief is that of their even mixture.
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
    /// As the published searches ran it, mistakes included.
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
