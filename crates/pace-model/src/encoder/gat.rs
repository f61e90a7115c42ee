//! GAT: graph attention networks (Velickovic et al., 2018).
//!
//! In each of H heads, with `z = W h` and N(v) the neighbours of v and v itself:
//!
//! ```text
//! alpha_vu = softmax over u in N(v) of LeakyReLU(a . z_u + a' . z_v)      h_v <- ELU(sum over u of alpha_vu z_u + b)
//! ```
//!
//! Heads stand side by side in every layer. The paper averages them in the last one, whose columns are classes; here it is followed
//! by other maps. The paper has no graph vector: the mean of the nodes, as in the benchmark of Dwivedi et al. (2020).

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::activation::{leaky_relu, relu};
use burn::tensor::{Device, Tensor};
use pace_graph::DagSpec;
use serde::{Deserialize, Serialize};

use super::{DagEncoder, EncoderSettings, Encoding, Purpose};
use crate::batch::{DagBatch, Layout, Stream, Structure};
use crate::layers::{Dropout, EdgeList, Flow, Init, Readout, TokenTable, probability};

/// The slope of LeakyReLU below 0, from the paper.
const SLOPE: f64 = 0.2;

/// Configuration of [`Gat`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GatConfig {
    /// Width D.
    pub d_model: usize,
    /// Layers.
    pub n_layers: usize,
    /// H; must divide D.
    pub n_heads: usize,
    /// Dropout on the input of every layer and on attention weights.
    #[serde(deserialize_with = "probability")]
    pub dropout: f64,
    /// Whom a node hears besides itself.
    pub flow: Flow,
    /// What it is trained by.
    pub purpose: Purpose,
}

impl EncoderSettings for GatConfig {
    type Encoder = Gat;

    /// 8 heads of width 8 as in the paper. Its dropout is 0.6 on citation graphs with few labels, and 0 on others; here it is 0.1.
    /// Nodes hear both ways: its graphs are undirected.
    fn preset(purpose: Purpose) -> GatConfig {
        GatConfig { d_model: 64, n_layers: 3, n_heads: 8, dropout: 0.1, flow: Flow::Both, purpose }
    }

    fn layout(&self, spec: &DagSpec) -> Layout {
        Layout { structure: Structure::NONE.edge_lists(), ..self.purpose.layout(spec) }
    }

    /// # Panics
    /// If the heads do not divide the width, or unless 0 <= dropout < 1.
    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> Gat {
        let (d, n_heads) = (self.d_model, self.n_heads);
        assert!(n_heads > 0 && d.is_multiple_of(n_heads), "{n_heads} heads do not divide a width of {d}");
        let (mut init, layout) = (Init::new(seed, device), self.layout(spec));
        let n_tokens = self.purpose.n_tokens(&layout);
        Gat {
            embedding: TokenTable::new(n_tokens, d, self.dropout, &mut init),
            layers: (0..self.n_layers).map(|_| GatLayer::new(d, n_heads, &mut init)).collect(),
            config: *self,
            layout,
        }
    }
}

/// One round of attention to neighbours.
#[derive(Module, Debug)]
struct GatLayer {
    /// W of all heads side by side.
    map: Linear,
    /// a of each head, on who speaks, [H, D/H].
    source: Param<Tensor<2>>,
    /// a' of each head, on who hears, [H, D/H].
    target: Param<Tensor<2>>,
    /// `[D]`.
    bias: Param<Tensor<1>>,
}

impl GatLayer {
    fn new(d: usize, n_heads: usize, init: &mut Init<'_>) -> GatLayer {
        GatLayer {
            map: Linear { weight: init.xavier(d, d, 1.0), bias: None },
            source: init.xavier(n_heads, d / n_heads, 1.0),
            target: init.xavier(n_heads, d / n_heads, 1.0),
            bias: init.constant([d], 0.0),
        }
    }

    /// `edges` have loops. Shapes: [R, D] -> [R, D].
    fn forward(&self, x: Tensor<2>, edges: &EdgeList, dropout: Dropout, site: usize) -> Tensor<2> {
        let ([r, d], [h, d_head], e) = (x.dims(), self.source.dims(), edges.segments().len());
        let z = self.map.forward(x); // [R, D]
        let heads = z.clone().reshape([r, h, d_head]);
        // Scores of nodes, not of edges: a . z_u + a' . z_v is a sum of two.
        let score = |a: &Param<Tensor<2>>| (heads.clone() * a.val().unsqueeze()).sum_dim(2).reshape([r, h]);
        let scores = edges.of_sources(score(&self.source)) + edges.of_targets(score(&self.target)); // [E, H]
        let weights = dropout.apply(site, edges.segments().softmax(leaky_relu(scores, SLOPE)));
        let heard = edges.of_sources(z).reshape([e, h, d_head]) * weights.reshape([e, h, 1]);
        elu(edges.segments().sum(heard.reshape([e, d])) + self.bias.val().unsqueeze())
    }
}

/// x above 0, exp(x) - 1 below. Burn's takes the exponential of large numbers too, and their gradient would be NaN.
fn elu(x: Tensor<2>) -> Tensor<2> {
    relu(x.clone()) + (x.clamp_max(0.0).exp() - 1.0)
}

/// The GAT encoder.
#[derive(Module, Debug)]
pub struct Gat {
    embedding: TokenTable,
    layers: Vec<GatLayer>,
    #[module(skip)]
    config: GatConfig,
    #[module(skip)]
    layout: Layout,
}

impl Gat {
    /// The configuration this was made from.
    pub fn config(&self) -> &GatConfig {
        &self.config
    }
}

impl DagEncoder for Gat {
    fn encode(&self, batch: &DagBatch) -> Encoding {
        let edges = batch.edge_list(self.config.flow).with_loops();
        let dropout = batch.pass.dropout(self.config.dropout, Stream::EncoderBlocks);
        let mut nodes = self.embedding.forward(batch);
        for (number, layer) in self.layers.iter().enumerate() {
            // The input of the first layer is dropped by the embedding.
            if number > 0 {
                nodes = dropout.apply(2 * number, nodes);
            }
            nodes = layer.forward(nodes, edges, dropout, 2 * number + 1);
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
