//! D-VAE for Bayesian networks (Zhang, Jiang, Cui, Garnett & Chen, 2019): a node hears operations, not states.
//!
//! In a Bayesian network a variable depends on its parents alone, given these. So the state of a node is a GRU step from its
//! operation and from the gated sum of the operations before it, x one-hot, and the vector of a graph is the sum of all states but
//! those of the virtual input and output:
//!
//! ```text
//! h_v = GRU(x_v, sum over predecessors u of sigmoid(G x_u + b) * (M x_u))      graph = sum over v of h_v
//! ```
//!
//! With a second such sum over successors, the vector of a graph is a linear map of both sums.
//!
//! There are few operations, so the messages are a table, and equal nodes of a batch are computed once. The authors' code has no
//! dropout.

use burn::module::Module;
use burn::tensor::Device;
use pace_graph::DagSpec;
use serde::{Deserialize, Serialize};

use super::{DagEncoder, EncoderSettings, Encoding, Purpose, Shortcuts};
use crate::batch::{DagBatch, Layout};
use crate::layers::{Hearing, Init, Read, RecursionConfig, TwoWay, TwoWayConfig, probability};

/// Configuration of [`DvaeBn`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DvaeBnConfig {
    /// Width of a state, D.
    pub d_hidden: usize,
    /// Whether nodes have second states, from their successors.
    pub bidirectional: bool,
    /// Dropout in training, on the states that are read; from 0 to below 1.
    #[serde(deserialize_with = "probability")]
    pub dropout: f64,
    /// What it is trained by.
    pub purpose: Purpose,
}

impl DvaeBnConfig {
    /// What the authors ran on BN: width 501, along the edges only, no dropout.
    pub fn as_published() -> DvaeBnConfig {
        DvaeBnConfig { d_hidden: 501, dropout: 0.0, ..DvaeBnConfig::preset(Purpose::Vae) }
    }
}

impl EncoderSettings for DvaeBnConfig {
    type Encoder = DvaeBn;

    fn preset(purpose: Purpose) -> DvaeBnConfig {
        DvaeBnConfig { d_hidden: 128, bidirectional: false, dropout: 0.1, purpose }
    }

    fn layout(&self, spec: &DagSpec) -> Layout {
        self.purpose.layout(spec)
    }

    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> DvaeBn {
        let layout = self.layout(spec);
        let config = TwoWayConfig {
            recursion: RecursionConfig {
                d_hidden: self.d_hidden,
                n_layers: 1,
                hearing: Hearing::GatedOps,
                vertex_ids: false,
            },
            bidirectional: self.bidirectional,
            read: Read::Inner,
            dropout: self.dropout,
        };
        let states = config.init(&layout.spec, self.purpose.n_tokens(&layout), &mut Init::new(seed, device));
        DvaeBn { states, layout }
    }
}

/// The encoder of D-VAE for Bayesian networks.
#[derive(Module, Debug)]
pub struct DvaeBn {
    states: TwoWay,
    #[module(skip)]
    layout: Layout,
}

impl DagEncoder for DvaeBn {
    fn encode(&self, batch: &DagBatch) -> Encoding {
        self.states.encode(batch)
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn d_node(&self) -> usize {
        self.states.d()
    }

    fn d_graph(&self) -> usize {
        self.states.d()
    }

    fn shortcuts(&self) -> Option<&dyn Shortcuts> {
        Some(&self.states)
    }
}
