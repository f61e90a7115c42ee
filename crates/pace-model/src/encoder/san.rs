//! SAN, the Spectral Attention Network (Kreuzer et al., 2021): a learned positional encoding from the Laplacian spectrum, and full
//! attention that tells edges from other pairs.
//!
//! With (lambda_k, phi_k) the first K eigenpairs of the Laplacian of the undirected graph, the position of node i is
//!
//! ```text
//! p_i = sum over k of Transformer([lambda_1 ; phi_1i] A, .., [lambda_K ; phi_Ki] A)_k,      h_i = [o_i ; p_i]
//! ```
//!
//! and a head attends with maps of its own to neighbours N(i) and to the other nodes M(i), itself in neither:
//!
//! ```text
//! w_ij = 1/(1 + gamma)     softmax over j in N(i) of (Q1 h_i . K1 h_j / sqrt(D/H))      if j in N(i)
//! w_ij = gamma/(1 + gamma) softmax over j in M(i) of (Q2 h_i . K2 h_j / sqrt(D/H))      if j in M(i)
//! h_i' = LN(h_i + O || over heads of sum over j of w_ij V h_j)      h_i = LN(h_i' + W_2 ReLU(W_1 h_i'))
//! ```
//!
//! Differences from the paper and its code:
//! - each softmax is over its own set, as the paper prints it; the authors' code normalises the weighted exponentials of both sets
//!   together, so that the factor 1/(1 + gamma) cancels;
//! - scores are not clamped to -5..5: that replaces subtracting the largest one, which the softmax here does;
//! - the maps E1 and E2 of edge features are left out: without features they scale the coordinates of Q1 and Q2;
//! - layer norm, which the authors offer beside batch norm: batch norm makes a graph's vector depend on the rest of its batch;
//! - dropout on the outputs of sublayers, where the authors drop heads before O; d_ff as in PACE (the authors have 2D, and
//!   PyTorch's 2048 in the Transformer of positions);
//! - eigenvectors of length 1. On some datasets the authors scale the entries of each node to length 1 instead.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};
use pace_graph::DagSpec;
use pace_graph::structure::Laplacian;
use serde::{Deserialize, Serialize};

use super::{DagEncoder, EncoderSettings, Encoding, PaceConfig, Purpose};
use crate::batch::{DagBatch, Layout, Stream, Structure, floats};
use crate::kernel::{self, Dropout};
use crate::layers::{
    BlocksConfig, EncoderStack, Flow, GraphStack, Init, Keys, NormPlacement, Readout, neighbour_pairs,
    signed_eigenvectors, stranger_pairs,
};

/// The dropout site of the node embedding: beyond those of the blocks that compute positions under the same seed.
const INPUT: usize = 1 << 16;

/// Configuration of [`San`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SanConfig {
    /// What it is trained by.
    pub purpose: Purpose,
    /// Width of a node: operation and position side by side.
    pub d_model: usize,
    /// Transformer blocks on nodes.
    pub blocks: BlocksConfig,
    /// Width of the position.
    pub d_position: usize,
    /// Transformer blocks on eigenpairs.
    pub position_blocks: BlocksConfig,
    /// K: eigenpairs of the smallest eigenvalues, the zeros included. Graphs with fewer nodes have fewer.
    pub n_eigenvectors: usize,
    /// Of which Laplacian. The authors' code has the combinatorial one on ZINC and the normalised one elsewhere.
    pub laplacian: Laplacian,
    /// How much a node attends to others than its neighbours, from 0 up.
    pub gamma: f64,
}

impl EncoderSettings for SanConfig {
    type Encoder = San;

    /// PACE's blocks, and about the authors' positions: they have K = 10, width 8 or 16, 2 or 3 blocks of 4 heads, and gamma from
    /// 1e-6 to 1e-1 by dataset. Our graphs are small, so gamma is their largest.
    fn preset(purpose: Purpose) -> SanConfig {
        let blocks = BlocksConfig { norm: NormPlacement::Post, ..PaceConfig::mlm().blocks };
        SanConfig {
            purpose,
            d_model: 64,
            blocks,
            d_position: 16,
            position_blocks: BlocksConfig { n_layers: 2, n_heads: 4, ..blocks },
            n_eigenvectors: 10,
            laplacian: Laplacian::Normalised,
            gamma: 0.1,
        }
    }

    fn layout(&self, spec: &DagSpec) -> Layout {
        let structure = Structure::NONE.spectrum(self.laplacian, self.n_eigenvectors);
        Layout { structure, ..self.purpose.layout(spec) }
    }

    /// # Panics
    /// Unless positions are narrower than nodes and gamma is at least 0.
    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> San {
        let (d, d_position) = (self.d_model, self.d_position);
        assert!(d_position < d, "a position of width {d_position} leaves no room for the operation in {d}");
        assert!(self.gamma >= 0.0, "gamma {} is negative", self.gamma);
        let (mut init, layout) = (Init::new(seed, device), self.layout(spec));
        San {
            ops: init.normal([self.purpose.n_tokens(&layout), d - d_position]),
            pair: init.linear(2, d_position, true),
            position: EncoderStack::new(&self.position_blocks, d_position, &mut init),
            stack: GraphStack::new(&self.blocks, d, 5, true, &mut init),
            config: self.clone(),
            layout,
        }
    }
}

/// The Spectral Attention Network.
#[derive(Module, Debug)]
pub struct San {
    /// Operations, [T, D - d_position].
    ops: Param<Tensor<2>>,
    /// A, 2 to d_position.
    pair: Linear,
    position: EncoderStack,
    /// Its projection is Q1, K1, V, Q2, K2 side by side.
    stack: GraphStack,
    #[module(skip)]
    config: SanConfig,
    #[module(skip)]
    layout: Layout,
}

impl San {
    /// The learned positions. Shapes: batch [B, N] -> [B*N, d_position].
    fn positions(&self, batch: &DagBatch, dropout: Dropout) -> Tensor<2> {
        let ([b, n], k, d) = (batch.dims(), self.config.n_eigenvectors, self.config.d_position);
        let values = batch.spectrum().eigenvalues.reshape([b, 1, k, 1]).repeat_dim(1, n);
        let pairs = Tensor::cat(vec![values, signed_eigenvectors(batch).reshape([b, n, k, 1])], 3);
        // A graph of fewer than K nodes has as many eigenpairs as nodes.
        let exists = |&length: &usize| (0..k).map(move |index| if index < length { 1.0 } else { 0.0 });
        let exists = floats(batch.lengths.iter().flat_map(exists).collect(), [b, 1, 1, k], &batch.device());
        let exists = exists.repeat_dim(1, n); // [B, N, 1, K]
        let keys = Keys::Bias(exists.clone().repeat_dim(2, k).log().reshape([b * n, k, k]));
        let y = self.position.forward(self.pair.forward(pairs.reshape([b * n * k, 2])), &keys, dropout);
        (y.reshape([b * n, k, d]) * exists.reshape([b * n, k, 1])).sum_dim(1).reshape([b * n, d])
    }
}

impl DagEncoder for San {
    fn encode(&self, batch: &DagBatch) -> Encoding {
        let ([b, n], d, gamma) = (batch.dims(), self.config.d_model, self.config.gamma);
        let dropout = batch.pass.dropout(self.config.blocks.dropout, Stream::EncoderEmbedding);
        let positions = batch.pass.dropout(self.config.position_blocks.dropout, Stream::EncoderEmbedding);
        let ops = self.ops.val().select(0, batch.tokens());
        let x = dropout.apply(INPUT, Tensor::cat(vec![ops, self.positions(batch, positions)], 1));

        let [near, far] = [neighbour_pairs(batch, Flow::Both), stranger_pairs(batch)].map(Tensor::log);
        let attend = |parts: Tensor<2>| {
            let part = |first: usize, last: usize| parts.clone().slice([0..b * n, first * d..last * d]);
            let heads = |qkv, bias: &Tensor<3>| {
                kernel::attention(qkv, Some(bias.clone()), b, self.config.blocks.n_heads, Dropout::NONE)
            };
            let (near, far) = (heads(part(0, 3), &near), heads(Tensor::cat(vec![part(3, 5), part(2, 3)], 1), &far));
            near * (1.0 / (1.0 + gamma)) + far * (gamma / (1.0 + gamma))
        };
        let blocks = batch.pass.dropout(self.config.blocks.dropout, Stream::EncoderBlocks);
        let nodes = self.stack.forward(x, blocks, attend);
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
