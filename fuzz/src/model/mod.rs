//! Targets of pace-model and pace-train, which need Burn.

use std::sync::OnceLock;

use burn::tensor::Device;
use pace_graph::DagSpec;
use pace_model::decoder::PaceDecoder;
use pace_model::encoder::Pace;
use pace_model::objective::{Vae, VaeConfig};

use crate::Target;

mod checkpoint;
mod config;
mod record;
mod weights;

/// All of them.
pub const TARGETS: [Target; 5] = [
    Target::new("model-config", config::seeds, config::read).max_len(8192),
    Target::new("safetensors", weights::seeds, weights::read).max_len(16_384).share(10),
    Target::new("pytorch", weights::pytorch_seeds, weights::pytorch).max_len(16_384).share(5),
    Target::new("checkpoint", checkpoint::seeds, checkpoint::read).max_len(65_536).share(1),
    Target::new("record", record::seeds, record::read).share(2),
];

/// A model of a few hundred numbers.
fn tiny() -> VaeConfig {
    let mut config = VaeConfig::paper();
    let (encoder, decoder) = (&mut config.encoder, &mut config.decoder);
    for (embedding, blocks) in
        [(&mut encoder.embedding, &mut encoder.blocks), (&mut decoder.embedding, &mut decoder.blocks)]
    {
        (embedding.d_op, embedding.d_position) = (2, 2);
        (blocks.n_layers, blocks.n_heads, blocks.d_ff) = (1, 1, 2);
    }
    decoder.d_hidden = 2;
    VaeConfig { d_latent: 2, ..config }
}

/// The graphs of [`tiny`].
fn spec() -> DagSpec {
    DagSpec::enas("enas", 1)
}

/// The CPU; kept, because the first look at it asks the system.
fn device() -> &'static Device {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    DEVICE.get_or_init(|| pace_model::device::device("").expect("a CPU"))
}

/// The model of [`tiny`].
fn model() -> Vae<Pace, PaceDecoder> {
    tiny().init(&spec(), 0, device())
}
