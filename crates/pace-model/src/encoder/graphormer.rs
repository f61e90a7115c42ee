//! Graphormer (Ying et al., 2021): a Transformer that reads degrees at its input and distances in its attention.
//!
//! With phi(j, i) the length of a shortest path from j to i, or "none", and a virtual node that every node attends to and that
//! attends to every node:
//!
//! ```text
//! h_i  = o_i + z-(in-degree of i) + z+(out-degree of i)
//! A_ij = Q h_i . K h_j / sqrt(D/H) + b(phi(j, i))          b: a number per head and distance
//! h'   = h + MHA(LN(h))       h = h' + FFN(LN(h'))         MHA: the softmax of A over j, times V
//! ```
//!
//! The table b serves all blocks; pairs with the virtual node share a number of their own. A last norm follows, and the graph's
//! vector is that of the virtual node.
//!
//! Differences from the paper and its code:
//! - edges have no features, so there is no edge encoding;
//! - phi runs from the key to the query, as messages do in PACE; in the code from the query to the key. The authors' graphs are
//!   undirected, where that is the same;
//! - ReLU where the code has GELU; the paper does not say.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};
use pace_graph::DagSpec;
use pace_graph::structure::Paths;
use serde::{Deserialize, Serialize};

use super::{DagEncoder, EncoderSettings, Encoding, PaceConfig, Purpose};
use crate::batch::{DagBatch, Layout, Stream, Structure};
use crate::layers::{BlocksConfig, EncoderStack, Init, Keys, NormPlacement};

/// Configuration of [`Graphormer`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GraphormerConfig {
    /// What it is trained by.
    pub purpose: Purpose,
    /// Width of a node.
    pub d_model: usize,
    /// Transformer blocks.
    pub blocks: BlocksConfig,
    /// Which paths have a length: those along the edges to the query, or all of the undirected graph.
    pub paths: Paths,
    /// Nodes further apart count as unconnected.
    pub max_distance: u32,
    /// Larger degrees count as this.
    pub max_degree: u32,
}

impl EncoderSettings for GraphormerConfig {
    type Encoder = Graphormer;

    /// PACE's blocks, normalised first. The authors measure undirected molecules; their code follows the edges of a directed graph.
    fn preset(purpose: Purpose) -> GraphormerConfig {
        let blocks = BlocksConfig { norm: NormPlacement::Pre, ..PaceConfig::mlm().blocks };
        GraphormerConfig { purpose, d_model: 64, blocks, paths: Paths::Directed, max_distance: 20, max_degree: 20 }
    }

    fn layout(&self, spec: &DagSpec) -> Layout {
        let structure = Structure::NONE.degrees(self.max_degree).distances(self.paths, self.max_distance);
        Layout { structure, ..self.purpose.layout(spec) }
    }

    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> Graphormer {
        let (mut init, layout, d) = (Init::new(seed, device), self.layout(spec), self.d_model);
        let (n_degrees, n_distances) = (self.max_degree as usize + 1, self.max_distance as usize + 2);
        Graphormer {
            ops: init.normal([self.purpose.n_tokens(&layout), d]),
            in_degrees: init.normal([n_degrees, d]),
            out_degrees: init.normal([n_degrees, d]),
            distances: init.normal([n_distances, self.blocks.n_heads]),
            virtual_node: init.normal([1, d]),
            virtual_distance: init.normal([1, self.blocks.n_heads]),
            stack: EncoderStack::new(&self.blocks, d, &mut init),
            config: self.clone(),
            layout,
        }
    }
}

/// Graphormer.
#[derive(Module, Debug)]
pub struct Graphormer {
    /// [T, D].
    ops: Param<Tensor<2>>,
    /// z-, [max_degree + 1, D].
    in_degrees: Param<Tensor<2>>,
    /// z+, [max_degree + 1, D].
    out_degrees: Param<Tensor<2>>,
    /// b, [max_distance + 2, H]; the last row is for pairs without a path.
    distances: Param<Tensor<2>>,
    /// [1, D].
    virtual_node: Param<Tensor<2>>,
    /// [1, H].
    virtual_distance: Param<Tensor<2>>,
    stack: EncoderStack,
    #[module(skip)]
    config: GraphormerConfig,
    #[module(skip)]
    layout: Layout,
}

impl Graphormer {
    /// The virtual node and then the nodes of every graph. Shapes: batch [B, N] -> [B*(N+1), D].
    fn inputs(&self, batch: &DagBatch) -> Tensor<2> {
        let ([b, n], d) = (batch.dims(), self.config.d_model);
        let [incoming, outgoing] = batch.degrees();
        let centrality = self.in_degrees.val().select(0, incoming) + self.out_degrees.val().select(0, outgoing);
        let nodes = self.ops.val().select(0, batch.tokens()) + centrality;
        let first = self.virtual_node.val().reshape([1, 1, d]).repeat_dim(0, b);
        let x = Tensor::cat(vec![first, nodes.reshape([b, n, d])], 1).reshape([b * (n + 1), d]);
        batch.pass.dropout(self.config.blocks.dropout, Stream::EncoderEmbedding).apply(0, x)
    }

    /// What is added to the scores, with the virtual node first. Shapes: batch [B, N] -> [B, H, N+1, N+1].
    fn bias(&self, batch: &DagBatch) -> Tensor<4> {
        let ([b, n], h) = (batch.dims(), self.config.blocks.n_heads);
        let spatial = self.distances.val().select(0, batch.distances().reshape([b * n * n]));
        let spatial = spatial.reshape([b, n, n, h]).permute([0, 3, 1, 2]); // [B, H, N, N]
        let own = self.virtual_distance.val().reshape([1, h, 1, 1]).repeat_dim(0, b);
        let (column, row) = (own.clone().repeat_dim(2, n), own.repeat_dim(3, n + 1));
        let bias = Tensor::cat(vec![row, Tensor::cat(vec![column, spatial], 3)], 2);
        // Nobody attends to padding.
        let keys = Tensor::cat(vec![Tensor::ones([b, 1], &batch.device()), batch.valid()], 1);
        bias + keys.log().reshape([b, 1, 1, n + 1])
    }
}

impl DagEncoder for Graphormer {
    fn encode(&self, batch: &DagBatch) -> Encoding {
        let ([b, n], d) = (batch.dims(), self.config.d_model);
        let dropout = batch.pass.dropout(self.config.blocks.dropout, Stream::EncoderBlocks);
        let x = self.stack.forward(self.inputs(batch), &Keys::HeadBias(self.bias(batch)), dropout);
        let x = x.reshape([b, n + 1, d]);
        let graph = x.clone().slice([0..b, 0..1, 0..d]).reshape([b, d]);
        let nodes = x.slice([0..b, 1..n + 1, 0..d]).reshape([b * n, d]);
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
