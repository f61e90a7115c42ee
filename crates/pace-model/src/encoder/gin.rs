//! GIN: the graph isomorphism network (Xu et al., 2019).
//!
//! ```text
//! h_v^l = ReLU(Norm(MLP_l( (1 + eps_l) h_v^{l-1} + sum over neighbours u of h_u^{l-1} )))     MLP(y) = W_2 ReLU(Norm(W_1 y))
//! g = [ sum over v of h_v^0 ; .. ; sum over v of h_v^L ]
//! ```
//!
//! The paper's Norm is a batch norm. That would make the vector of a graph depend on what else is in its batch; here it is a layer
//! norm.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};
use pace_graph::DagSpec;
use serde::{Deserialize, Serialize};

use super::{DagEncoder, EncoderSettings, Encoding, Purpose};
use crate::batch::{DagBatch, Layout, Structure};
use crate::layers::{Aggregation, EdgeList, Flow, Init, Norm, Readout, TokenTable, probability};

/// Configuration of [`Gin`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GinConfig {
    /// Width D.
    pub d_model: usize,
    /// Layers L.
    pub n_layers: usize,
    /// Dropout on the node embedding. The authors have it in their classifier, which is not here.
    #[serde(deserialize_with = "probability")]
    pub dropout: f64,
    /// Whom a node hears.
    pub flow: Flow,
    /// What it is trained by.
    pub purpose: Purpose,
}

impl EncoderSettings for GinConfig {
    type Encoder = Gin;

    /// Nodes hear both ways: the paper's graphs are undirected.
    fn preset(purpose: Purpose) -> GinConfig {
        GinConfig { d_model: 64, n_layers: 3, dropout: 0.1, flow: Flow::Both, purpose }
    }

    fn layout(&self, spec: &DagSpec) -> Layout {
        Layout { structure: Structure::NONE.edge_lists(), ..self.purpose.layout(spec) }
    }

    /// # Panics
    /// Unless 0 <= dropout < 1.
    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> Gin {
        let (mut init, layout) = (Init::new(seed, device), self.layout(spec));
        let (n_tokens, d) = (self.purpose.n_tokens(&layout), self.d_model);
        Gin {
            embedding: TokenTable::new(n_tokens, d, self.dropout, &mut init),
            layers: (0..self.n_layers).map(|_| GinLayer::new(d, &mut init)).collect(),
            config: *self,
            layout,
        }
    }
}

/// One round of messages.
#[derive(Module, Debug)]
struct GinLayer {
    /// `[1]`.
    eps: Param<Tensor<1>>,
    hidden: Linear,
    norm_hidden: Norm,
    out: Linear,
    norm: Norm,
}

impl GinLayer {
    fn new(d: usize, init: &mut Init<'_>) -> GinLayer {
        GinLayer {
            eps: init.constant([1], 0.0),
            hidden: init.linear(d, d, true),
            norm_hidden: Norm::new(d, init),
            out: init.linear(d, d, true),
            norm: Norm::new(d, init),
        }
    }

    /// Shapes: [R, D] -> [R, D].
    fn forward(&self, x: Tensor<2>, edges: &EdgeList) -> Tensor<2> {
        let heard = Aggregation::Sum.forward(x.clone(), edges);
        let y = x * (self.eps.val() + 1.0).unsqueeze() + heard;
        let y = relu(self.norm_hidden.forward(self.hidden.forward(y)));
        relu(self.norm.forward(self.out.forward(y)))
    }
}

/// The GIN encoder. A node vector is that of the last layer.
#[derive(Module, Debug)]
pub struct Gin {
    embedding: TokenTable,
    layers: Vec<GinLayer>,
    #[module(skip)]
    config: GinConfig,
    #[module(skip)]
    layout: Layout,
}

impl Gin {
    /// The configuration this was made from.
    pub fn config(&self) -> &GinConfig {
        &self.config
    }
}

impl DagEncoder for Gin {
    fn encode(&self, batch: &DagBatch) -> Encoding {
        let (edges, n_ops) = (batch.edge_list(self.config.flow), self.layout.spec.n_ops());
        let mut nodes = self.embedding.forward(batch);
        let mut sums = vec![Readout::Sum.forward(nodes.clone(), n_ops, batch)];
        for layer in &self.layers {
            nodes = layer.forward(nodes, edges);
            sums.push(Readout::Sum.forward(nodes.clone(), n_ops, batch));
        }
        Encoding { nodes, graph: Tensor::cat(sums, 1) } // [B, (L + 1) D]
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn d_node(&self) -> usize {
        self.config.d_model
    }

    fn d_graph(&self) -> usize {
        (self.config.n_layers + 1) * self.config.d_model
    }
}
