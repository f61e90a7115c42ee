//! GCN: graph convolutions (Kipf and Welling, 2017), in the form in which D-VAE's authors compare with them (Zhang et al., 2019).
//!
//! A vertex hears its predecessors, weighted by degrees, and itself:
//!
//! ```text
//! h_v <- ReLU(W ( h_v / (in(v) + 1) + sum over u -> v of h_u / sqrt((out(u) + 1) (in(v) + 1)) ) + b)
//! ```
//!
//! At first h_v is the one-hot operation. The graph vector is the sum of the vertices, but for input and output.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};
use pace_graph::DagSpec;
use serde::{Deserialize, Serialize};

use super::{DagEncoder, EncoderSettings, Encoding, Purpose};
use crate::batch::{DagBatch, Layout, Stream, Structure};
use crate::layers::{Aggregation, Flow, Init, Level, Readout, probability};

/// Configuration of [`Gcn`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GcnConfig {
    /// Width D.
    pub d_model: usize,
    /// Convolutions, at least 1.
    pub n_layers: usize,
    /// Dropout on the vectors of operations. The authors have none.
    #[serde(deserialize_with = "probability")]
    pub dropout: f64,
    /// Whom a vertex hears.
    pub flow: Flow,
    /// Whether vertices are updated in place, in topological order: from the second convolution on, a vertex then hears what its
    /// predecessors have become in this convolution, not what they were before it. Against the edges ([`Flow::Backward`]) the
    /// order is reversed. The authors' code does this, though its comment says "simultaneously".
    pub in_place: bool,
    /// What it is trained by.
    pub purpose: Purpose,
}

impl EncoderSettings for GcnConfig {
    type Encoder = Gcn;

    /// As D-VAE's authors have it, but 64 wide, not 501, and with dropout.
    fn preset(purpose: Purpose) -> GcnConfig {
        GcnConfig { d_model: 64, n_layers: 3, dropout: 0.1, flow: Flow::Forward, in_place: true, purpose }
    }

    fn layout(&self, spec: &DagSpec) -> Layout {
        let structure = Structure { levels: self.in_place, ..Structure::NONE.edge_lists() };
        Layout { structure, ..self.purpose.layout(spec) }
    }

    /// # Panics
    /// If there are no layers, or unless 0 <= dropout < 1.
    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> Gcn {
        assert!(self.n_layers > 0, "n_layers is 0, but a GCN has at least 1");
        assert!((0.0..1.0).contains(&self.dropout), "dropout {} is not from 0 to below 1", self.dropout);
        let (mut init, layout) = (Init::new(seed, device), self.layout(spec));
        let d_in = |layer: usize| if layer == 0 { self.purpose.n_tokens(&layout) } else { self.d_model };
        let layers = (0..self.n_layers).map(|layer| init.linear(d_in(layer), self.d_model, true)).collect();
        // The authors' graphs have no start symbol; ours stands in front of the input and counts as little.
        let roles = |roles: &[Option<_>]| roles.iter().flatten().count();
        let spec = &layout.spec;
        let readout = Readout::InnerSum { first: roles(&[spec.start, spec.input]), last: roles(&[spec.output]) };
        Gcn { layers, readout, config: *self, layout }
    }
}

/// The GCN encoder.
#[derive(Module, Debug)]
pub struct Gcn {
    /// The first maps one-hot tokens.
    layers: Vec<Linear>,
    #[module(skip)]
    readout: Readout,
    #[module(skip)]
    config: GcnConfig,
    #[module(skip)]
    layout: Layout,
}

impl Gcn {
    /// The configuration this was made from.
    pub fn config(&self) -> &GcnConfig {
        &self.config
    }

    /// The first convolution, which is the same in place: operations do not change. Shapes: batch [B, N] -> [B*N, D].
    fn first(&self, batch: &DagBatch) -> Tensor<2> {
        let Linear { weight, bias } = &self.layers[0];
        // A one-hot vector times W is a row of W, and the map of a sum is the sum of the maps.
        let rows = weight.val().select(0, batch.tokens());
        let rows = batch.pass.dropout(self.config.dropout, Stream::EncoderEmbedding).apply(0, rows);
        let heard = Aggregation::Symmetric.forward(rows, batch.edge_list(self.config.flow));
        relu(heard + bias.as_ref().expect("made with a bias").val().unsqueeze())
    }

    /// The other convolutions, all vertices at once. Shapes: [B*N, D] -> [B*N, D].
    fn at_once(&self, x: Tensor<2>, batch: &DagBatch) -> Tensor<2> {
        let edges = batch.edge_list(self.config.flow);
        self.layers[1..].iter().fold(x, |x, map| relu(map.forward(Aggregation::Symmetric.forward(x, edges))))
    }

    /// The other convolutions, level by level. Shapes: [B*N, D] -> [B*N, D].
    fn in_place(&self, x: Tensor<2>, batch: &DagBatch) -> Tensor<2> {
        let (levels, opposite) = match self.config.flow {
            Flow::Forward => (batch.levels(), Flow::Backward),
            Flow::Backward => (batch.levels_reversed(), Flow::Forward),
            Flow::Both => (batch.levels(), Flow::Both),
        };
        // c_uv = s_u t_v and c_v = t_v^2, so that no edge needs a weight of its own.
        let [s, t] = [opposite, self.config.flow].map(|flow| {
            let [_, own] = batch.edge_list(flow).symmetric();
            own.sqrt() // [B*N, 1]
        });
        let t = levels.split(t);
        let speak = |level: &Level, h: Tensor<2>| h * s.clone().select(0, level.rows());
        let mut states = levels.split(x);
        for map in &self.layers[1..] {
            // Who hears both sides hears what its successors were: they come later.
            let later = (self.config.flow == Flow::Both).then(|| {
                let edges = batch.edge_list(Flow::Backward);
                levels.split(Aggregation::Sum.forward(levels.join(states.clone()) * s.clone(), edges))
            });
            states = levels.walk(speak, |number, level, heard| {
                let own = states[number].clone() * t[number].clone();
                let heard = heard.map(|heard| level.segments().sum(heard));
                let later = later.as_ref().map(|later| later[number].clone());
                let sum = [heard, later].into_iter().flatten().fold(own, |sum, part| sum + part);
                relu(map.forward(sum * t[number].clone()))
            });
        }
        levels.join(states)
    }
}

impl DagEncoder for Gcn {
    fn encode(&self, batch: &DagBatch) -> Encoding {
        let x = self.first(batch);
        let nodes = if self.config.in_place { self.in_place(x, batch) } else { self.at_once(x, batch) };
        let graph = self.readout.forward(nodes.clone(), self.layout.spec.n_ops(), batch);
        Encoding { nodes, graph }
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn d_node(&self) -> usize {
        self.config.d_model
    }

    fn d_graph(&self) -> usize {
        self.config.d_model
    }
}
