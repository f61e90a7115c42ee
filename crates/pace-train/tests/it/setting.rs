//! What the tests share: a small dataset, a small model, and its parameters as bytes.

use burn::tensor::Device;
use pace_graph::enumerate::{Enas, Sampler};
use pace_graph::{Dag, DagSpec};
use pace_model::DagTable;
use pace_model::decoder::PaceDecoder;
use pace_model::encoder::Pace;
use pace_model::objective::{Vae, VaeConfig};
use pace_train::{FitConfig, OptimiserConfig};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub fn device() -> Device {
    let name = std::env::var("PACE_TEST_DEVICE").unwrap_or_default();
    pace_model::device::device(&name).unwrap_or_else(|error| panic!("PACE_TEST_DEVICE: {error}"))
}

pub fn dags(count: usize) -> Vec<Dag> {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    (0..count).map(|_| Enas::default().sample(&mut rng)).collect()
}

pub fn table(count: usize) -> DagTable {
    DagTable::new(&dags(count), &VaeConfig::paper().of_width(32).encoder.layout(&DagSpec::na()))
}

pub fn vae(device: &Device) -> Vae<Pace, PaceDecoder> {
    vae_of_seed(1, device)
}

pub fn vae_of_seed(seed: u64, device: &Device) -> Vae<Pace, PaceDecoder> {
    VaeConfig::paper().of_width(32).init(&DagSpec::na(), seed, device)
}

/// Four epochs of five steps.
pub fn short() -> FitConfig {
    FitConfig { epochs: 4, batch_size: 20, optimiser: OptimiserConfig::adam(1e-3), ..FitConfig::vae() }
}
