//! D-VAE (Zhang, Jiang, Cui, Garnett & Chen, 2019): the computation that the graph describes, run on states.
//!
//! Nodes are visited in topological order. The state of a node is a GRU step from its operation and from the gated sum of the
//! states before it; x and id are one-hot operation and position:
//!
//! ```text
//! h_v = GRU(x_v, sum over predecessors u of sigmoid(G [h_u ; id_u] + b) * (M [h_u ; id_u]))
//! ```
//!
//! The vector of a graph is the state of its last node. With a second recursion against the edges, it is a linear map of both, the
//! state of the last node and the second state of the first.
//!
//! The authors' code differs in this: gates and maps of the first recursion serve its decoder too, and there is no dropout.

use burn::module::Module;
use burn::tensor::Device;
use pace_graph::DagSpec;
use serde::{Deserialize, Serialize};

use super::{DagEncoder, EncoderSettings, Encoding, Purpose, Shortcuts};
use crate::batch::{DagBatch, Layout, Order};
use crate::layers::{Hearing, Init, Read, RecursionConfig, TwoWay, TwoWayConfig, probability};

/// Configuration of [`Dvae`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DvaeConfig {
    /// Width of a state, D.
    pub d_hidden: usize,
    /// Whether there is a second recursion, against the edges.
    pub bidirectional: bool,
    /// Whether gates and maps see the position of a node. Vectors then depend on the order of the nodes.
    pub vertex_ids: bool,
    /// Order of the nodes.
    pub order: Order,
    /// Dropout in training, on the states that are read; from 0 to below 1.
    #[serde(deserialize_with = "probability")]
    pub dropout: f64,
    /// What it is trained by.
    pub purpose: Purpose,
}

impl DvaeConfig {
    /// What the authors ran on NA: width 501, both directions, no dropout. On NAS-Bench-101 and 301, PACE's authors ran width 301
    /// along the edges only.
    pub fn as_published() -> DvaeConfig {
        DvaeConfig { d_hidden: 501, dropout: 0.0, ..DvaeConfig::preset(Purpose::Vae) }
    }
}

impl EncoderSettings for DvaeConfig {
    type Encoder = Dvae;

    fn preset(purpose: Purpose) -> DvaeConfig {
        DvaeConfig { d_hidden: 128, bidirectional: true, vertex_ids: true, order: Order::Stored, dropout: 0.1, purpose }
    }

    fn layout(&self, spec: &DagSpec) -> Layout {
        Layout { order: self.order, ..self.purpose.layout(spec) }
    }

    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> Dvae {
        let layout = self.layout(spec);
        let config = TwoWayConfig {
            recursion: RecursionConfig {
                d_hidden: self.d_hidden,
                n_layers: 1,
                hearing: Hearing::GatedStates,
                vertex_ids: self.vertex_ids,
            },
            bidirectional: self.bidirectional,
            read: Read::Ends,
            dropout: self.dropout,
        };
        let states = config.init(&layout.spec, self.purpose.n_tokens(&layout), &mut Init::new(seed, device));
        Dvae { states, layout }
    }
}

/// The encoder of D-VAE.
#[derive(Module, Debug)]
pub struct Dvae {
    states: TwoWay,
    #[module(skip)]
    layout: Layout,
}

impl DagEncoder for Dvae {
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
