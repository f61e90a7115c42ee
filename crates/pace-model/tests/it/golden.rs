//! Golden losses: ten training steps give the numbers they gave when they were pinned.

use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::Device;
use pace_graph::DagSpec;
use pace_graph::enumerate::Enas;
use pace_model::DagTable;
use pace_model::encoder::DagEncoder;
use pace_model::objective::{Objective, VaeConfig};

use crate::setting::{sample, test_device, values};

/// The mean loss per graph of the paper's VAE in ten steps of Adam on 64 ENAS graphs, 32 at a time, dropout and noise on.
fn losses(device: &Device) -> Vec<f32> {
    let device = device.clone().autodiff();
    let mut vae = VaeConfig::paper().init(&DagSpec::na(), 1, &device);
    let table = DagTable::new(&sample(&Enas::default(), 64, 1), vae.encoder().layout());
    let mut adam = AdamConfig::new().with_epsilon(1e-8).init();
    let step = |step: usize| {
        let half: Vec<usize> = (0..32).map(|graph| step % 2 * 32 + graph).collect();
        let loss = vae.loss(&table.batch(&half, &device).train(step as u64));
        let grads = GradientsParams::from_grads(loss.total.backward(), &vae);
        vae = adam.step(1e-4, vae.clone(), grads);
        values(loss.total)[0] / loss.count as f32
    };
    (0..10).map(step).collect()
}

#[test]
fn ten_steps_of_the_paper_vae() {
    const GOLDEN: [f32; 10] = [0.0; 10];
    let found = losses(&test_device());
    for (step, (found, expected)) in found.iter().zip(&GOLDEN).enumerate() {
        let error = (found - expected).abs() / expected;
        // Machines round differently; a wrong term or draw moves a loss by far more.
        assert!(error < 1e-3, "step {step}: {found}, not {expected}, of {found:?}");
    }
}
