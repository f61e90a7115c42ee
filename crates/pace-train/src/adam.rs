//! [`Adam`]: the optimiser whose step is one pass over each parameter.

use burn::optim::{AdamState, AdaptiveMomentumState, Optimizer};
use burn::tensor::{Device, Tensor};
use pace_model::device::AdamStep;

/// Adam with decoupled weight decay, by [`AdamStep`]; its state is that of Burn's own Adam.
///
/// Burn's Adam computes the same in a dozen operations, each of which reads and writes memory as large as the parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// Added to the root of the second moment.
    pub epsilon: f32,
    /// Decoupled weight decay; 0 for none.
    pub decay: f32,
}

/// Memory of the first moment, as everywhere.
const BETA_1: f32 = 0.9;
/// Memory of the second moment, as everywhere.
const BETA_2: f32 = 0.999;

impl Optimizer for Adam {
    type State<const D: usize> = AdamState<D>;

    fn step<const D: usize>(
        &self,
        lr: f64,
        tensor: Tensor<D>,
        grad: Tensor<D>,
        state: Option<AdamState<D>>,
    ) -> (Tensor<D>, Option<AdamState<D>>) {
        let (time, moments) = match state {
            Some(AdamState { momentum }) => (momentum.time + 1, [momentum.moment_1, momentum.moment_2]),
            None => (1, [grad.zeros_like(), grad.zeros_like()]),
        };
        let step = AdamStep { lr, beta_1: BETA_1, beta_2: BETA_2, epsilon: self.epsilon, decay: self.decay, time };
        let (tensor, [moment_1, moment_2]) = step.take(tensor, grad, moments);
        (tensor, Some(AdamState::new(AdaptiveMomentumState::new(time, moment_1, moment_2))))
    }

    fn to_device<const D: usize>(state: AdamState<D>, device: &Device) -> AdamState<D> {
        AdamState::new(state.momentum.to_device(device))
    }
}
