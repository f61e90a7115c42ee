//! Encoders of abstract syntax trees, by name.

mod bag;
mod pace;
mod recursion;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::GraphEncoder;
use crate::ast::{AstBatch, AstLayout};

pub use bag::{AstBag, AstBagConfig};
pub use pace::{AstPace, AstPaceConfig, AstReadout};
pub use recursion::{AstRecursion, AstRecursionConfig};

/// The configuration of any encoder of trees.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AstEncoderConfig {
    /// PACE.
    Pace(AstPaceConfig),
    /// D-VAE: a recursion over gated states.
    Dvae(AstRecursionConfig),
    /// DAGNN: stacked recursions with attention.
    Dagnn(AstRecursionConfig),
    /// Types and attributes without edges.
    Bag(AstBagConfig),
}

impl AstEncoderConfig {
    /// The names of all encoders.
    pub const NAMES: &[&str] = &["pace", "dvae", "dagnn", "bag"];

    /// The usual choices for OGBG-CODE2 of the encoder with this name; `None` if there is none.
    pub fn named(name: &str) -> Option<AstEncoderConfig> {
        Some(match name {
            "pace" => AstEncoderConfig::Pace(AstPaceConfig::code2()),
            "dvae" => AstEncoderConfig::Dvae(AstRecursionConfig::dvae()),
            "dagnn" => AstEncoderConfig::Dagnn(AstRecursionConfig::dagnn()),
            "bag" => AstEncoderConfig::Bag(AstBagConfig::code2()),
            _ => return None,
        })
    }

    /// The encoder's name.
    pub fn name(&self) -> &'static str {
        match self {
            AstEncoderConfig::Pace(_) => "pace",
            AstEncoderConfig::Dvae(_) => "dvae",
            AstEncoderConfig::Dagnn(_) => "dagnn",
            AstEncoderConfig::Bag(_) => "bag",
        }
    }

    /// Sets the width of the vectors, which all encoders have.
    pub fn with_width(mut self, d: usize) -> AstEncoderConfig {
        match &mut self {
            AstEncoderConfig::Pace(config) => config.d_model = d,
            AstEncoderConfig::Dvae(config) | AstEncoderConfig::Dagnn(config) => config.d_hidden = d,
            AstEncoderConfig::Bag(config) => config.d_model = d,
        }
        self
    }

    /// The layout this encoder needs for trees with `n_types` node types and `n_attributes` attributes.
    pub fn layout(&self, n_types: usize, n_attributes: usize) -> AstLayout {
        match self {
            AstEncoderConfig::Pace(config) => config.layout(n_types, n_attributes),
            AstEncoderConfig::Dvae(config) | AstEncoderConfig::Dagnn(config) => config.layout(n_types, n_attributes),
            AstEncoderConfig::Bag(config) => config.layout(n_types, n_attributes),
        }
    }

    /// Initialises for trees with `n_types` node types and `n_attributes` attributes.
    pub fn init(&self, n_types: usize, n_attributes: usize, seed: u64, device: &Device) -> AstEncoder {
        match self {
            AstEncoderConfig::Pace(config) => AstEncoder::Pace(config.init(n_types, n_attributes, seed, device)),
            AstEncoderConfig::Dvae(config) | AstEncoderConfig::Dagnn(config) => {
                AstEncoder::Recursion(config.init(n_types, n_attributes, seed, device))
            }
            AstEncoderConfig::Bag(config) => AstEncoder::Bag(config.init(n_types, n_attributes, seed, device)),
        }
    }
}

/// Any encoder of trees.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum AstEncoder {
    /// PACE.
    Pace(AstPace),
    /// D-VAE or DAGNN.
    Recursion(AstRecursion),
    /// Types and attributes without edges.
    Bag(AstBag),
}

impl AstEncoder {
    /// How this encoder wants its trees.
    pub fn layout(&self) -> &AstLayout {
        match self {
            AstEncoder::Pace(encoder) => encoder.layout(),
            AstEncoder::Recursion(encoder) => encoder.layout(),
            AstEncoder::Bag(encoder) => encoder.layout(),
        }
    }
}

impl GraphEncoder for AstEncoder {
    type Batch = AstBatch;

    fn embed(&self, batch: &AstBatch) -> Tensor<2> {
        match self {
            AstEncoder::Pace(encoder) => encoder.embed(batch),
            AstEncoder::Recursion(encoder) => encoder.embed(batch),
            AstEncoder::Bag(encoder) => encoder.embed(batch),
        }
    }

    fn d_embedding(&self) -> usize {
        match self {
            AstEncoder::Pace(encoder) => encoder.d_embedding(),
            AstEncoder::Recursion(encoder) => encoder.d_embedding(),
            AstEncoder::Bag(encoder) => encoder.d_embedding(),
        }
    }
}
