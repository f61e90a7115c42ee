//! DAGNN (Thost & Chen, 2021): stacked recursions along the edges, with attention to the nodes before.
//!
//! Nodes are visited in topological order, in each of L layers. The state of a node is a GRU step from its state in the layer below,
//! which is its one-hot operation x under the first, and from the states before it, weighted by attention; id is the one-hot position:
//!
//! ```text
//! m_v^l = sum over predecessors u of softmax_u(w . [h_u^l ; id_u]) h_u^l
//! h_v^l = GRU_l(h_v^(l-1), m_v^l)      h_v^(-1) = x_v
//! ```
//!
//! The vector of a graph is a linear map of the states of its last node in all layers and, with second recursions against the
//! edges, of the second states of its first node.
//!
//! The paper's scores also have a query part. It cancels and is left out, see [`Hearing::AttendedStates`]. The authors' code has no
//! dropout.

use burn::module::Module;
use burn::tensor::Device;
use pace_graph::DagSpec;
use serde::{Deserialize, Serialize};

use super::{DagEncoder, EncoderSettings, Encoding, Purpose, Shortcuts};
use crate::batch::{DagBatch, Layout, Order};
use crate::layers::{Hearing, Init, Read, RecursionConfig, TwoWay, TwoWayConfig, probability};

/// Configuration of [`Dagnn`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DagnnConfig {
    /// Width of a state, D.
    pub d_hidden: usize,
    /// L.
    pub n_layers: usize,
    /// How a node hears those before it. [`Hearing::GatedStates`] is D-VAE with several layers.
    pub hearing: Hearing,
    /// Whether there are second recursions, against the edges.
    pub bidirectional: bool,
    /// Whether scores see the position of a node. Vectors then depend on the order of the nodes.
    pub vertex_ids: bool,
    /// Order of the nodes.
    pub order: Order,
    /// Dropout in training, on the states that are read; from 0 to below 1.
    #[serde(deserialize_with = "probability")]
    pub dropout: f64,
    /// What it is trained by.
    pub purpose: Purpose,
}

impl DagnnConfig {
    /// What the authors ran on NA: width 501, both directions, no dropout. On NAS-Bench-101 and 301, PACE's authors ran width 301
    /// along the edges only.
    pub fn as_published() -> DagnnConfig {
        DagnnConfig { d_hidden: 501, dropout: 0.0, ..DagnnConfig::preset(Purpose::Vae) }
    }
}

impl EncoderSettings for DagnnConfig {
    type Encoder = Dagnn;

    fn preset(purpose: Purpose) -> DagnnConfig {
        DagnnConfig {
            d_hidden: 128,
            n_layers: 2,
            hearing: Hearing::AttendedStates,
            bidirectional: true,
            vertex_ids: true,
            order: Order::Stored,
            dropout: 0.1,
            purpose,
        }
    }

    fn layout(&self, spec: &DagSpec) -> Layout {
        Layout { order: self.order, ..self.purpose.layout(spec) }
    }

    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> Dagnn {
        let layout = self.layout(spec);
        let config = TwoWayConfig {
            recursion: RecursionConfig {
                d_hidden: self.d_hidden,
                n_layers: self.n_layers,
                hearing: self.hearing,
                vertex_ids: self.vertex_ids,
            },
            bidirectional: self.bidirectional,
            read: Read::Ends,
            dropout: self.dropout,
        };
        let states = config.init(&layout.spec, self.purpose.n_tokens(&layout), &mut Init::new(seed, device));
        Dagnn { states, layout }
    }
}

/// The encoder of DAGNN.
#[derive(Module, Debug)]
pub struct Dagnn {
    states: TwoWay,
    #[module(skip)]
    layout: Layout,
}

impl DagEncoder for Dagnn {
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
