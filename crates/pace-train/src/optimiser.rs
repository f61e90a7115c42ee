//! [`OptimiserConfig`]: Burn's Adam with the settings of the reference code.

use burn::module::ParamGroup;
use burn::optim::{AdamConfig, AdamWConfig, ModuleOptimizer};
use serde::{Deserialize, Serialize};

use crate::Error;

/// The last part of the path of every bias in pace-model.
const BIASES: &str = r"(^|\.)(bias|beta|bqkv|bq|bkv|bo|b1|b2)$";

/// Adam (Kingma and Ba, 2015) or, with weight decay, AdamW (Loshchilov and Hutter, 2019).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptimiserConfig {
    /// Learning rate, before the schedule.
    pub lr: f64,
    /// Added to the root of the second moment; 1e-8 in the reference code, Burn's default is 1e-5.
    pub epsilon: f32,
    /// Decoupled weight decay; biases are not decayed, gains of layer norms are, as in the reference code.
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

    pub(crate) fn init(&self) -> ModuleOptimizer {
        let adam = AdamConfig::new().with_epsilon(self.epsilon);
        match self.weight_decay {
            None => adam.init(),
            Some(decay) => AdamWConfig::new().with_epsilon(self.epsilon).with_weight_decay(decay).init().with_group(
                ParamGroup::from_regex(BIASES).expect("a pattern of ours"),
                adam.build(),
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
