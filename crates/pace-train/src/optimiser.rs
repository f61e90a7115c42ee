//! [`OptimiserConfig`]: Adam with the settings of the reference code.

use burn::module::{Module, ParamGroup};
use burn::optim::ModuleOptimizer;
use pace_model::layers::undecayed;
use serde::{Deserialize, Serialize};

use crate::{Adam, Error};

/// Adam (Kingma and Ba, 2015) or, with weight decay, AdamW (Loshchilov and Hutter, 2019).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptimiserConfig {
    /// Learning rate, before the schedule.
    pub lr: f64,
    /// Added to the root of the second moment; 1e-8 in the reference code, Burn's default is 1e-5.
    pub epsilon: f32,
    /// Decoupled weight decay. It leaves [`undecayed`] alone: biases are not decayed, gains of layer norms are, as in the reference
    /// code.
    pub weight_decay: Option<f32>,
}

impl OptimiserConfig {
    /// Adam as on NA and BN.
    pub fn adam(lr: f64) -> OptimiserConfig {
        OptimiserConfig { lr, epsilon: 1e-8, weight_decay: None }
    }

    /// AdamW as on NAS-Bench.
    pub fn adamw(lr: f64) -> OptimiserConfig {
        OptimiserConfig { weight_decay: Some(0.01), ..OptimiserConfig::adam(lr) }
    }

    /// The optimiser of a module.
    pub fn init<M: Module>(&self, module: &M) -> ModuleOptimizer {
        let plain = Adam { epsilon: self.epsilon, decay: 0.0 };
        match self.weight_decay {
            None => ModuleOptimizer::from(plain),
            Some(decay) => ModuleOptimizer::from(Adam { decay, ..plain }).with_group(
                ParamGroup::from_ids(undecayed(module)),
                plain,
                None,
            ),
        }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.lr > 0.0 && self.lr.is_finite() {
            return Ok(());
        }
        Err(Error::Setting { name: "the learning rate", value: self.lr.to_string(), bound: "a positive number" })
    }
}
