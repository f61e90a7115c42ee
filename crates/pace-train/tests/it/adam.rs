//! Our Adam against Burn's, over the steps of a run.

use burn::optim::{AdamConfig, AdamWConfig, Optimizer};
use burn::tensor::{Device, Distribution, Tensor};
use pace_train::Adam;

/// The parameter after 20 steps with gradients that depend on it.
fn descend<O: Optimizer>(optimiser: &O, start: &Tensor<2>) -> Tensor<2> {
    let (mut w, mut state) = (start.clone(), None);
    for _ in 0..20 {
        let grad = w.clone().mul_scalar(2.0).add_scalar(0.3);
        (w, state) = optimiser.step(1e-2, w, grad, state);
    }
    w
}

#[test]
fn equals_burns_own() {
    let start = Tensor::<2>::random([33, 17], Distribution::Uniform(-1.0, 1.0), &Device::flex());
    let distance = |a: Tensor<2>, b: Tensor<2>| -> f32 { (a - b).abs().max().into_scalar() };
    let ours = descend(&Adam { epsilon: 1e-8, decay: 0.0 }, &start);
    let theirs = descend(&AdamConfig::new().with_epsilon(1e-8).build(), &start);
    assert!(distance(ours.clone(), theirs) < 1e-5);
    let decayed = descend(&Adam { epsilon: 1e-8, decay: 0.1 }, &start);
    let theirs = descend(&AdamWConfig::new().with_epsilon(1e-8).with_weight_decay(0.1).build(), &start);
    assert!(distance(decayed.clone(), theirs) < 1e-5);
    assert!(distance(ours, decayed) > 1e-3, "decay does something");
}
