//! DeepGMG as an encoder (Li et al., 2018, as the baseline of D-VAE, Zhang et al., 2019): rounds of messages, then a gated sum.
//!
//! ```text
//! h_v  = W onehot(o_v) + b
//! T times:  a_v = sum over neighbours u of (V [h_u ; u -> v ; h_v] + c)      h_v <- GRU_t(a_v, h_v)
//! h_G  = sum over v of sigmoid(G h_v + g) * (M h_v)
//! ```
//!
//! Edges are heard in both directions, as D-VAE's authors run it. No step depends on the order of the nodes.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};
use pace_graph::DagSpec;
use serde::{Deserialize, Serialize};

use super::{DagEncoder, EncoderSettings, Encoding, Purpose};
use crate::batch::{DagBatch, Layout, Stream, Structure};
use crate::layers::{Flow, GraphState, Init, Propagation, PropagationConfig};

/// Configuration of [`DeepGmg`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeepGmgConfig {
    /// What it is trained by.
    pub purpose: Purpose,
    /// Width of a node and rounds of messages.
    pub propagation: PropagationConfig,
    /// Dropout in training, on the node embedding. The authors have none.
    pub dropout: f64,
}

impl DeepGmgConfig {
    /// The authors' width, without dropout.
    pub fn as_published() -> DeepGmgConfig {
        let preset = DeepGmgConfig::preset(Purpose::Vae);
        DeepGmgConfig { propagation: PropagationConfig { d_hidden: 501, ..preset.propagation }, dropout: 0.0, ..preset }
    }
}

impl EncoderSettings for DeepGmgConfig {
    type Encoder = DeepGmg;

    fn preset(purpose: Purpose) -> DeepGmgConfig {
        DeepGmgConfig { purpose, propagation: PropagationConfig { d_hidden: 128, n_rounds: 3 }, dropout: 0.1 }
    }

    fn layout(&self, spec: &DagSpec) -> Layout {
        Layout { structure: Structure::NONE.edge_lists(), ..self.purpose.layout(spec) }
    }

    /// # Panics
    /// If the dropout is not from 0 to below 1.
    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> DeepGmg {
        assert!((0.0..1.0).contains(&self.dropout), "dropout {} is not from 0 to below 1", self.dropout);
        let (mut init, layout, d) = (Init::new(seed, device), self.layout(spec), self.propagation.d_hidden);
        DeepGmg {
            embedding: init.linear(self.purpose.n_tokens(&layout), d, true),
            propagation: self.propagation.init(&mut init),
            state: GraphState::new(d, &mut init),
            config: self.clone(),
            layout,
        }
    }
}

/// The DeepGMG encoder.
///
/// The authors embed a node by the map that the decoder uses for new nodes, which also reads a graph state: 0 here, so that half
/// is left out. That map, messages and gates are shared by their encoder and decoder; here each has its own.
#[derive(Module, Debug)]
pub struct DeepGmg {
    embedding: Linear,
    propagation: Propagation,
    state: GraphState,
    #[module(skip)]
    config: DeepGmgConfig,
    #[module(skip)]
    layout: Layout,
}

impl DeepGmg {
    /// The node vectors. Shapes: batch [B, N] -> [B*N, D].
    fn nodes(&self, batch: &DagBatch) -> Tensor<2> {
        let bias = self.embedding.bias.as_ref().expect("made with a bias").val().unsqueeze();
        let embedded = self.embedding.weight.val().select(0, batch.tokens()) + bias;
        let dropout = batch.pass.dropout(self.config.dropout, Stream::EncoderEmbedding);
        let along = batch.edge_list(Flow::Forward).segments().counts();
        self.propagation.forward(dropout.apply(0, embedded), batch.edge_list(Flow::Both), &along)
    }
}

impl DagEncoder for DeepGmg {
    fn encode(&self, batch: &DagBatch) -> Encoding {
        let ([b, n], nodes) = (batch.dims(), self.nodes(batch));
        let terms = self.state.terms(nodes.clone()) * batch.valid().reshape([b * n, 1]);
        let graph = terms.reshape([b, n, self.d_graph()]).sum_dim(1).reshape([b, self.d_graph()]);
        Encoding { nodes, graph }
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn d_node(&self) -> usize {
        self.config.propagation.d_hidden
    }

    fn d_graph(&self) -> usize {
        2 * self.config.propagation.d_hidden
    }
}
