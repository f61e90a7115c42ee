//! Gated GCN: residual gated graph convolutions (Bresson and Laurent, 2018), as in the benchmark of Dwivedi et al. (2020).
//!
//! With e_uv a vector of the edge, sigma the sigmoid and x * y by element:
//!
//! ```text
//! q_uv = C e_uv + D h_u + E h_v                 eta_uv = sigma(q_uv) / (sum over neighbours w of sigma(q_wv) + 1e-6)
//! h_v <- h_v + ReLU(Norm(A h_v + sum over neighbours u of eta_uv * B h_u))             e_uv <- e_uv + ReLU(Norm(q_uv))
//! ```
//!
//! The graph vector is the mean of the nodes. The benchmark's Norm is a batch norm, by which the vector of a graph would depend on
//! what else is in its batch; here it is a layer norm. Its edges have features or a 1; here e_uv starts as one of two learnt vectors,
//! for messages along and against the edge; with one, a DAG would look like an undirected graph. PACE's paper counts this network among those
//! "based on Laplacian PEs", so these are added to the node embedding.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::activation::{relu, sigmoid};
use burn::tensor::{Device, Tensor};
use pace_graph::DagSpec;
use serde::{Deserialize, Serialize};

use super::{DagEncoder, EncoderSettings, Encoding, Purpose};
use crate::batch::{DagBatch, Layout, Stream, Structure};
use crate::layers::{EdgeList, Flow, Init, LaplacianEncoding, Norm, Readout, TokenTable, probability};

/// What keeps the share of a gate finite, from the benchmark's code.
const EPSILON: f64 = 1e-6;

/// Configuration of [`GatedGcn`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GatedGcnConfig {
    /// Width D.
    pub d_model: usize,
    /// Layers.
    pub n_layers: usize,
    /// Dropout on the node embedding and on nodes and edges after every layer. The benchmark has none on graphs as small as these.
    #[serde(deserialize_with = "probability")]
    pub dropout: f64,
    /// Whom a node hears.
    pub flow: Flow,
    /// How many eigenvectors of the Laplacian enter; `None` for no positions.
    pub laplacian: Option<usize>,
    /// What it is trained by.
    pub purpose: Purpose,
}

impl EncoderSettings for GatedGcnConfig {
    type Encoder = GatedGcn;

    /// 8 eigenvectors, as the benchmark has on molecules. Nodes hear both ways: its graphs are undirected.
    fn preset(purpose: Purpose) -> GatedGcnConfig {
        GatedGcnConfig { d_model: 64, n_layers: 3, dropout: 0.1, flow: Flow::Both, laplacian: Some(8), purpose }
    }

    fn layout(&self, spec: &DagSpec) -> Layout {
        let edges = Structure::NONE.edge_lists();
        let structure = self.laplacian.map_or(edges, |count| LaplacianEncoding::request(edges, count));
        Layout { structure, ..self.purpose.layout(spec) }
    }

    /// # Panics
    /// Unless 0 <= dropout < 1.
    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> GatedGcn {
        let (mut init, layout) = (Init::new(seed, device), self.layout(spec));
        let (n_tokens, d) = (self.purpose.n_tokens(&layout), self.d_model);
        // Nobody hears the edges that the last layer would make.
        let layer = |number: usize, init: &mut Init<'_>| GatedGcnLayer::new(d, number + 1 < self.n_layers, init);
        GatedGcn {
            embedding: TokenTable::new(n_tokens, d, self.dropout, &mut init),
            laplacian: self.laplacian.map(|count| LaplacianEncoding::new(count, d, &mut init)),
            directions: init.normal([2, d]),
            layers: (0..self.n_layers).map(|number| layer(number, &mut init)).collect(),
            config: *self,
            layout,
        }
    }
}

/// One round of gated messages.
#[derive(Module, Debug)]
struct GatedGcnLayer {
    /// A, B, D and E side by side, D to 4D.
    nodes: Linear,
    /// C.
    edges: Linear,
    norm: Norm,
    /// `None` if the layer makes no new edges.
    norm_edges: Option<Norm>,
}

impl GatedGcnLayer {
    fn new(d: usize, makes_edges: bool, init: &mut Init<'_>) -> GatedGcnLayer {
        GatedGcnLayer {
            nodes: init.linear(d, 4 * d, true),
            edges: init.linear(d, d, true),
            norm: Norm::new(d, init),
            norm_edges: makes_edges.then(|| Norm::new(d, init)),
        }
    }

    /// Nodes and edges. Shapes: [R, D], [E, D] -> [R, D], [E, D].
    fn forward(&self, x: Tensor<2>, edge: Tensor<2>, edges: &EdgeList) -> (Tensor<2>, Tensor<2>) {
        let ([r, d], [e, _]) = (x.dims(), edge.dims());
        let maps = self.nodes.forward(x.clone()); // [R, 4D]
        let own = maps.clone().slice([0..r, 0..d]);
        let heard = edges.of_sources(maps.clone().slice([0..r, d..3 * d])); // [E, 2D]
        let by_target = edges.of_targets(maps.slice([0..r, 3 * d..4 * d]));
        let q = self.edges.forward(edge.clone()) + heard.clone().slice([0..e, d..2 * d]) + by_target;
        let open = sigmoid(q.clone());
        let gated = open.clone() * heard.slice([0..e, 0..d]);
        // Messages and gates are added up together.
        let sums = edges.segments().sum(Tensor::cat(vec![gated, open], 1)); // [R, 2D]
        let heard = sums.clone().slice([0..r, 0..d]) / (sums.slice([0..r, d..2 * d]) + EPSILON);
        let edge = match &self.norm_edges {
            Some(norm) => edge + relu(norm.forward(q)),
            None => edge,
        };
        (x + relu(self.norm.forward(own + heard)), edge)
    }
}

/// The gated GCN encoder.
#[derive(Module, Debug)]
pub struct GatedGcn {
    embedding: TokenTable,
    laplacian: Option<LaplacianEncoding>,
    /// The first vectors of edges, along and against, [2, D].
    directions: Param<Tensor<2>>,
    layers: Vec<GatedGcnLayer>,
    #[module(skip)]
    config: GatedGcnConfig,
    #[module(skip)]
    layout: Layout,
}

impl GatedGcn {
    /// The configuration this was made from.
    pub fn config(&self) -> &GatedGcnConfig {
        &self.config
    }

    /// The node vectors before the first layer. Shapes: batch [B, N] -> [B*N, D].
    fn inputs(&self, batch: &DagBatch) -> Tensor<2> {
        let embedded = self.embedding.forward(batch);
        match &self.laplacian {
            Some(laplacian) => embedded + laplacian.forward(batch),
            None => embedded,
        }
    }
}

impl DagEncoder for GatedGcn {
    fn encode(&self, batch: &DagBatch) -> Encoding {
        let edges = batch.edge_list(self.config.flow);
        let dropout = batch.pass.dropout(self.config.dropout, Stream::EncoderBlocks);
        let mut nodes = self.inputs(batch);
        let mut edge = self.directions.val().select(0, edges.against()); // [E, D]
        for (number, layer) in self.layers.iter().enumerate() {
            (nodes, edge) = layer.forward(nodes, edge, edges);
            nodes = dropout.apply(2 * number, nodes);
            if layer.norm_edges.is_some() {
                edge = dropout.apply(2 * number + 1, edge);
            }
        }
        let graph = Readout::Mean.forward(nodes.clone(), self.layout.spec.n_ops(), batch);
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
