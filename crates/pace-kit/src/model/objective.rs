//! What a model is trained for.

use burn::tensor::Device;
use pace_graph::DagSpec;
use pace_model::encoder::{Encoder, EncoderConfig, EncoderSettings};
use pace_model::objective::{HeadConfig, Supervised};
use serde::{Deserialize, Serialize};

/// What a model is trained for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// To decode each graph from its vector: vectors, new graphs, searches between graphs
    Vae,
    /// To guess hidden operations: vectors, from graphs without scores
    Mlm,
    /// To predict scores: needs graphs with scores
    Supervised,
}

impl Objective {
    /// The kind of an autoencoder's weights file.
    pub const VAE: &'static str = "pace-vae";
    /// The kind of a weights file of masked language modelling.
    pub const MLM: &'static str = "pace-mlm";
    /// The kind of a supervised model's weights file.
    pub const SUPERVISED: &'static str = "pace-supervised";
}

impl std::fmt::Display for Objective {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Objective::Vae => "vae",
            Objective::Mlm => "mlm",
            Objective::Supervised => "supervised",
        })
    }
}

/// An encoder with a head, and the scale of the scores it has learnt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SupervisedConfig {
    /// The encoder.
    pub encoder: EncoderConfig,
    /// The head.
    pub head: HeadConfig,
    /// Mean of the training scores.
    pub mean: f64,
    /// Their standard deviation.
    pub std: f64,
}

impl SupervisedConfig {
    /// Initialises for graphs of `spec`.
    pub fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> Supervised<Encoder> {
        self.head.init(self.encoder.init(spec, seed, device), seed ^ 0x5eed_0004, device)
    }

    /// A prediction in the units of the scores. Rankings have no units: only their order counts.
    pub fn unscaled(&self, predicted: f64) -> f64 {
        if self.head == HeadConfig::Ranking { predicted } else { self.mean + self.std * predicted }
    }
}
