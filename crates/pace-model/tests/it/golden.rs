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
    let mut vae = VaeConfig::paper().of_width(32).init(&DagSpec::na(), 1, &device);
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

/// Pinned on flex, x86-64.
const GOLDEN: [f32; 10] =
    [37.79891, 37.85632, 37.416233, 37.67094, 37.348328, 37.277294, 37.11612, 37.2191, 36.98445, 37.01202];

fn check(device: &Device) {
    let found = losses(device);
    // Machines round differently; a wrong term or draw moves a loss by far more.
    let close = found.iter().zip(&GOLDEN).all(|(found, golden)| (found - golden).abs() < 1e-3 * golden);
    assert!(close, "{found:?}, not {GOLDEN:?}");
}

#[test]
fn ten_steps_of_the_paper_vae() {
    check(&test_device());
}

/// The kernels' plain twins, which serve every device but flex, train alike.
#[cfg(feature = "ndarray")]
#[test]
fn ten_steps_on_the_plain_twins() {
    check(&pace_model::device::device("ndarray").unwrap());
}
