//! GT, the Graph Transformer (Dwivedi & Bresson, 2021): a Transformer whose nodes attend to their neighbours.
//!
//! With lambda_i the entries at node i of the first K Laplacian eigenvectors after the constant one, and N(i) the neighbours of i
//! in the undirected graph:
//!
//! ```text
//! h_i  = A o_i + a + C lambda_i + c
//! w_ij = softmax over j in N(i) of (Q h_i . K h_j / sqrt(D/H))
//! h_i' = LN(h_i + O || over heads of sum over j in N(i) of w_ij V h_j)
//! h_i  = LN(h_i' + W_2 ReLU(W_1 h_i'))
//! ```
//!
//! A node does not attend to itself: its own state enters by the residual. A node without neighbours hears nothing.
//!
//! Differences from the paper and its code:
//! - layer norm, which the paper offers beside batch norm: batch norm makes a graph's vector depend on the rest of its batch;
//! - scores are not clamped to -5..5: that replaces subtracting the largest one, which the softmax here does;
//! - biases in Q, K and V, dropout on attention weights and outputs, d_ff as in PACE (the paper has 2D): the blocks are PACE's;
//! - edges have no features, so there is no edge channel.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};
use pace_graph::DagSpec;
use pace_graph::structure::Laplacian;
use serde::{Deserialize, Serialize};

use super::{DagEncoder, EncoderSettings, Encoding, PaceConfig, Purpose};
use crate::batch::{DagBatch, Layout, Stream, Structure};
use crate::layers::{
    BlocksConfig, EncoderStack, Flow, Init, Keys, NormPlacement, Readout, neighbour_pairs, signed_eigenvectors,
};

/// Configuration of [`Gt`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GtConfig {
    /// What it is trained by.
    pub purpose: Purpose,
    /// Width of a node.
    pub d_model: usize,
    /// Transformer blocks.
    pub blocks: BlocksConfig,
    /// K: Laplacian eigenvectors in the positional encoding. Graphs with fewer have zeros for the rest.
    pub n_eigenvectors: usize,
    /// Which neighbours a node attends to. The paper's graphs are undirected: both.
    pub flow: Flow,
}

impl EncoderSettings for GtConfig {
    type Encoder = Gt;

    /// PACE's blocks, and the 8 eigenvectors that the authors use on ZINC.
    fn preset(purpose: Purpose) -> GtConfig {
        let blocks = BlocksConfig { norm: NormPlacement::Post, ..PaceConfig::mlm().blocks };
        GtConfig { purpose, d_model: 64, blocks, n_eigenvectors: 8, flow: Flow::Both }
    }

    fn layout(&self, spec: &DagSpec) -> Layout {
        // The first is constant but for degrees, and left out.
        let structure = Structure::NONE.spectrum(Laplacian::Normalised, self.n_eigenvectors + 1);
        Layout { structure, ..self.purpose.layout(spec) }
    }

    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> Gt {
        let (mut init, layout) = (Init::new(seed, device), self.layout(spec));
        Gt {
            ops: init.normal([self.purpose.n_tokens(&layout), self.d_model]),
            position: init.linear(self.n_eigenvectors, self.d_model, true),
            stack: EncoderStack::new(&self.blocks, self.d_model, &mut init),
            config: self.clone(),
            layout,
        }
    }
}

/// The Graph Transformer.
#[derive(Module, Debug)]
pub struct Gt {
    /// A, a row per token, [T, D]. The constant a is in all rows.
    ops: Param<Tensor<2>>,
    /// C and c, K to D.
    position: Linear,
    stack: EncoderStack,
    #[module(skip)]
    config: GtConfig,
    #[module(skip)]
    layout: Layout,
}

impl Gt {
    /// Operation and position of every node. Shapes: batch [B, N] -> [B*N, D].
    fn inputs(&self, batch: &DagBatch) -> Tensor<2> {
        let dropout = batch.pass.dropout(self.config.blocks.dropout, Stream::EncoderEmbedding);
        let ([b, n], k) = (batch.dims(), self.config.n_eigenvectors);
        // As the authors do: operations are dropped, positions are not.
        let ops = dropout.apply(0, self.ops.val().select(0, batch.tokens()));
        let vectors = signed_eigenvectors(batch).slice([0..b, 0..n, 1..k + 1]).reshape([b * n, k]);
        ops + self.position.forward(vectors)
    }
}

impl DagEncoder for Gt {
    fn encode(&self, batch: &DagBatch) -> Encoding {
        let keys = Keys::Bias(neighbour_pairs(batch, self.config.flow).log());
        let dropout = batch.pass.dropout(self.config.blocks.dropout, Stream::EncoderBlocks);
        let nodes = self.stack.forward(self.inputs(batch), &keys, dropout);
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
