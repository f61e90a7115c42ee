//! One training step: forward, backward and Adam, as in `pace_train::fit`.

use burn::module::Module;
use burn::optim::{GradientsParams, ModuleOptimizer};
use pace_model::objective::Objective;
use pace_train::{OptimiserConfig, together};

const LR: f64 = 1e-4;

/// A model in training.
pub struct Trainer<M> {
    /// `None` only while the optimiser holds it: it writes into the memory of the parameters if it is the only holder.
    model: Option<M>,
    optimiser: ModuleOptimizer,
}

impl<M: Module> Trainer<M> {
    pub fn new(model: M) -> Self {
        let optimiser = OptimiserConfig::adam(LR).init(&model);
        Self { model: Some(model), optimiser }
    }

    pub fn into_model(self) -> M {
        self.model.expect("put back after every step")
    }

    pub fn step<B>(&mut self, batch: &B)
    where
        M: Objective<B>,
        B: Sync,
    {
        let (model, optimiser) = (self.model.take().expect("put back after every step"), &mut self.optimiser);
        self.model = Some(together(|| {
            let grads = GradientsParams::from_grads(model.loss(batch).total.backward(), &model);
            optimiser.step(LR, model, grads)
        }));
    }
}
