//! The decoder of D-VAE (Zhang, Jiang, Cui, Garnett & Chen, 2019), which is also DAGNN's (Thost & Chen, 2021).
//!
//! A graph grows node by node, and the states of its nodes are those of a [`Recursion`] over what there is of it. With H0 =
//! tanh(W z + b), h_u the state of node u, and h_v the state of the new node v, which hears the sources it has so far:
//!
//! ```text
//! p(operation of v) = softmax(T2 ReLU(T1 h_(v-1)))
//! p(edge u -> v)    = sigmoid(e ReLU(E [h_v ; h_u]))      for u = v - 1 down to the first node
//! ```
//!
//! h_v changes with every edge it gets. Under teacher forcing it is known which: a node is then computed once for each beginning of
//! the list of its sources, and only the state with all of them is heard by others.
//!
//! H0 takes the place of the start symbol, which is the first node of our graphs and not of the authors': it is the state that speaks for the
//! first real node, and what nodes without predecessors hear. So the states of all real nodes are the authors'. There, the first
//! operation is not predicted, since all their graphs begin with the input.
//!
//! Three more things differ from the authors' code. Gates, maps and scores there are the encoder's; here they are the decoder's own. DAGNN's
//! second layer there hears what its first one heard; here it hears states of its own layer, as in the encoder. And DAGNN's softmax
//! there counts zeros for predecessors that other graphs of the batch have.

mod forced;
mod heads;
mod steps;

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::tanh;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::{DagDecoder, DecoderSettings, Stepper};
use crate::batch::{DagBatch, Layout};
use crate::layers::{Hearing, Init, NodeEmbedding, Recursion, RecursionConfig};
use forced::Forced;
use heads::DvaeHeads;
use steps::Steps;

/// What the operation of the next node is predicted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GraphState {
    /// The state of the latest node.
    Latest,
    /// The sum of the states of all real nodes so far, H0 before there is one.
    Sum,
}

/// Configuration of [`DvaeDecoder`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DvaeDecoderConfig {
    /// The states of nodes.
    pub recursion: RecursionConfig,
    /// Hidden width of the classifier of operations.
    pub d_op: usize,
    /// Hidden width of the classifier of edges.
    pub d_edge: usize,
    /// What the next operation is predicted from.
    pub graph_state: GraphState,
    /// Whether the classifier of edges sees H0. States that hear operations only do not know it.
    pub latent_in_edges: bool,
}

impl DvaeDecoderConfig {
    /// D-VAE's.
    pub fn dvae() -> DvaeDecoderConfig {
        let d_hidden = 128;
        DvaeDecoderConfig {
            recursion: RecursionConfig { d_hidden, n_layers: 1, hearing: Hearing::GatedStates, vertex_ids: true },
            d_op: 2 * d_hidden,
            d_edge: 4 * d_hidden,
            graph_state: GraphState::Latest,
            latent_in_edges: false,
        }
    }

    /// D-VAE's for Bayesian networks.
    pub fn dvae_bn() -> DvaeDecoderConfig {
        DvaeDecoderConfig::dvae().hears(Hearing::GatedOps, 1).for_networks()
    }

    /// DAGNN's.
    pub fn dagnn() -> DvaeDecoderConfig {
        DvaeDecoderConfig::dvae().hears(Hearing::AttendedStates, 2)
    }

    /// DAGNN's for Bayesian networks.
    pub fn dagnn_bn() -> DvaeDecoderConfig {
        DvaeDecoderConfig::dagnn().for_networks()
    }

    /// The same with states of another width, and classifiers in proportion. The authors have 501 on NA and BN.
    #[must_use]
    pub fn of_width(mut self, d_hidden: usize) -> DvaeDecoderConfig {
        let scaled = |width: usize| width * d_hidden / self.recursion.d_hidden;
        (self.d_op, self.d_edge) = (scaled(self.d_op), scaled(self.d_edge));
        self.recursion.d_hidden = d_hidden;
        self
    }

    fn hears(mut self, hearing: Hearing, n_layers: usize) -> DvaeDecoderConfig {
        (self.recursion.hearing, self.recursion.n_layers) = (hearing, n_layers);
        self
    }

    fn for_networks(mut self) -> DvaeDecoderConfig {
        self.recursion.vertex_ids = false;
        let d_edge = self.recursion.d_hidden;
        DvaeDecoderConfig { d_edge, graph_state: GraphState::Sum, latent_in_edges: true, ..self }
    }
}

impl DecoderSettings for DvaeDecoderConfig {
    type Decoder = DvaeDecoder;

    fn preset() -> DvaeDecoderConfig {
        DvaeDecoderConfig::dvae()
    }

    /// # Panics
    /// If the layout has no start symbol.
    fn init(&self, d_latent: usize, layout: &Layout, seed: u64, device: &Device) -> DvaeDecoder {
        assert!(layout.has_start(), "the decoder begins at a start symbol, and the layout has none");
        let mut init = Init::new(seed, device);
        let (n_ops, n) = (layout.spec.n_ops(), layout.spec.max_nodes);
        DvaeDecoder {
            latent: init.linear(d_latent, self.recursion.d_hidden, true),
            recursion: Recursion::new(&self.recursion, n_ops, n, &mut init),
            heads: DvaeHeads::new(self, n_ops, &mut init),
            config: self.clone(),
            layout: layout.clone(),
        }
    }
}

/// The decoder of D-VAE and DAGNN.
#[derive(Module, Debug)]
pub struct DvaeDecoder {
    /// Z to D.
    latent: Linear,
    recursion: Recursion,
    heads: DvaeHeads,
    #[module(skip)]
    config: DvaeDecoderConfig,
    #[module(skip)]
    layout: Layout,
}

impl DvaeDecoder {
    /// The configuration this was made from.
    pub fn config(&self) -> &DvaeDecoderConfig {
        &self.config
    }

    /// H0. Shapes: [B, Z] -> [B, D].
    fn start(&self, z: Tensor<2>) -> Tensor<2> {
        tanh(self.latent.forward(z))
    }
}

impl DagDecoder for DvaeDecoder {
    fn nll(&self, z: Tensor<2>, batch: &DagBatch, _shared: Option<&NodeEmbedding>) -> Tensor<1> {
        let start = self.start(z);
        let forced = Forced::new(batch, &self.recursion);
        let states = self.recursion.forward(&forced.visits, Some(&start)).pop().expect("at least one layer");
        let ops = self.heads.ops_nll(&forced, start.clone(), states.clone());
        match self.heads.edges_nll(&forced, start, states) {
            Some(edges) => ops + edges,
            None => ops,
        }
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn stepper<'a>(&'a self, z: Tensor<2>, _shared: Option<&'a NodeEmbedding>) -> Box<dyn Stepper + 'a> {
        Box::new(Steps::new(self, z))
    }
}
