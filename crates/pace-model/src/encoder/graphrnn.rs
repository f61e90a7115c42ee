//! GraphRNN as an encoder (You et al., 2018): S-VAE on the rows of GraphRNN, with a recurrent unit or a Transformer.
//!
//! GraphRNN itself only generates. In D-VAE's code (Zhang et al., 2019) its autoencoder has S-VAE's encoder and GraphRNN's
//! decoder. The PACE paper (with Table 5) makes an encoder of it by GraphRNN's rows, which say how many positions back each
//! source is, and by breadth-first order:
//!
//! ```text
//! x_j = [onehot(o_j) ; bit k: edge from j - 1 - k]
//! ```
//!
//! Rows follow the paper. The order stays topological, as in the commands of D-VAE's authors: decoders generate along the edges.
//! M, which breadth-first order keeps small, is therefore N - 1.

use burn::tensor::Device;
use pace_graph::DagSpec;
use serde::{Deserialize, Serialize};

use super::{EncoderSettings, Purpose, Svae, SvaeConfig, SvaeTransformer, SvaeTransformerConfig};
use crate::batch::Layout;
use crate::layers::EdgeBits;

/// Configuration of GraphRNN as an encoder: S-VAE's on other rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GraphRnnConfig(pub SvaeConfig);

impl EncoderSettings for GraphRnnConfig {
    type Encoder = Svae;

    fn preset(purpose: Purpose) -> GraphRnnConfig {
        GraphRnnConfig(SvaeConfig { bits: EdgeBits::FromBefore, ..SvaeConfig::preset(purpose) })
    }

    fn layout(&self, spec: &DagSpec) -> Layout {
        self.0.layout(spec)
    }

    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> Svae {
        self.0.init(spec, seed, device)
    }
}

/// Configuration of "GraphRNN (Transformer)" of Table 5: S-VAE's Transformer on other rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GraphRnnTransformerConfig(pub SvaeTransformerConfig);

impl EncoderSettings for GraphRnnTransformerConfig {
    type Encoder = SvaeTransformer;

    fn preset(purpose: Purpose) -> GraphRnnTransformerConfig {
        let svae = SvaeTransformerConfig::preset(purpose);
        GraphRnnTransformerConfig(SvaeTransformerConfig { bits: EdgeBits::FromBefore, ..svae })
    }

    fn layout(&self, spec: &DagSpec) -> Layout {
        self.0.layout(spec)
    }

    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> SvaeTransformer {
        self.0.init(spec, seed, device)
    }
}
