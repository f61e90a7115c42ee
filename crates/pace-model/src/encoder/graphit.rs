//! GraphiT (Mialon et al., 2021): a Transformer whose attention is multiplied by a kernel on the graph.
//!
//! With L the normalised Laplacian of the undirected graph, U diag(lambda) U^T its spectrum, and K a positive definite kernel
//! of it:
//!
//! ```text
//! K    = U diag(exp(-beta lambda)) U^T  = exp(-beta L)              diffusion
//! K    = U diag((1 - gamma lambda)^p) U^T = (I - gamma L)^p         random walk of p steps
//! w_ij = exp(Q h_i . Q h_j / sqrt(D/H)) K_ij, divided by its sum over j
//! h_i' = LN(h_i + 1/sqrt(1 + degree of i) O || over heads of sum over j of w_ij V h_j)
//! h_i  = LN(h_i' + W_2 ReLU(W_1 h_i'))
//! ```
//!
//! Queries and keys are the same vectors, so that attention is a kernel too. 1/sqrt(1 + degree) is from the code; the paper
//! prints 1/sqrt(degree), which an isolated node does not have.
//!
//! Differences from the paper and its code:
//! - the features of local substructures (GCKN) are left out, and so are Laplacian positional encodings, which are an option there;
//! - the kernel enters as its logarithm, added to the scores: the same product, and no overflow;
//! - layer norm, an option of the code, whose default is batch norm: that makes a graph's vector depend on the rest of its batch;
//! - no dropout on attention weights; d_ff as in PACE (the authors have 2D).

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};
use pace_graph::DagSpec;
use pace_graph::structure::Laplacian;
use serde::{Deserialize, Serialize};

use super::{DagEncoder, EncoderSettings, Encoding, PaceConfig, Purpose};
use crate::batch::{DagBatch, Layout, Stream, Structure};
use crate::kernel::{self, Dropout};
use crate::layers::{BlocksConfig, Flow, GraphStack, Init, NormPlacement, Readout, neighbour_pairs};

/// A kernel on the nodes of a graph, by a function of the eigenvalues of its Laplacian.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GraphKernel {
    /// `exp(-beta L)`.
    Diffusion {
        /// The time of diffusion.
        beta: f64,
    },
    /// `(I - gamma L)^steps`.
    RandomWalk {
        /// p, at least 1: pairs further apart have 0.
        steps: u32,
        /// From 0 to 1: beyond, pairs may have less than 0.
        gamma: f64,
    },
}

impl GraphKernel {
    /// What becomes of eigenvalues, of any shape.
    fn forward<const D: usize>(self, eigenvalues: Tensor<D>) -> Tensor<D> {
        match self {
            GraphKernel::Diffusion { beta } => (eigenvalues * -beta).exp(),
            GraphKernel::RandomWalk { steps, gamma } => {
                let step = eigenvalues * -gamma + 1.0;
                (1..steps).fold(step.clone(), |walk, _| walk * step.clone())
            }
        }
    }

    fn check(self) {
        match self {
            GraphKernel::Diffusion { beta } => assert!(beta >= 0.0, "beta {beta} is negative"),
            GraphKernel::RandomWalk { steps, gamma } => {
                assert!(steps > 0 && (0.0..=1.0).contains(&gamma), "no random walk: {self:?}");
            }
        }
    }
}

/// Configuration of [`Graphit`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GraphitConfig {
    /// What it is trained by.
    pub purpose: Purpose,
    /// Width of a node.
    pub d_model: usize,
    /// Transformer blocks.
    pub blocks: BlocksConfig,
    /// The kernel that multiplies attention.
    pub kernel: GraphKernel,
}

impl EncoderSettings for GraphitConfig {
    type Encoder = Graphit;

    /// PACE's blocks, and the authors' diffusion with beta = 1.
    fn preset(purpose: Purpose) -> GraphitConfig {
        let blocks = BlocksConfig { norm: NormPlacement::Post, ..PaceConfig::mlm().blocks };
        GraphitConfig { purpose, d_model: 64, blocks, kernel: GraphKernel::Diffusion { beta: 1.0 } }
    }

    fn layout(&self, spec: &DagSpec) -> Layout {
        let layout = self.purpose.layout(spec);
        // All of them: only the whole spectrum makes the kernel.
        let structure = Structure::NONE.spectrum(Laplacian::Normalised, layout.spec.max_nodes);
        Layout { structure, ..layout }
    }

    /// # Panics
    /// If the kernel is out of range.
    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> Graphit {
        self.kernel.check();
        let (mut init, layout) = (Init::new(seed, device), self.layout(spec));
        Graphit {
            ops: init.normal([self.purpose.n_tokens(&layout), self.d_model]),
            stack: GraphStack::new(&self.blocks, self.d_model, 2, false, &mut init),
            config: self.clone(),
            layout,
        }
    }
}

/// GraphiT.
#[derive(Module, Debug)]
pub struct Graphit {
    /// [T, D].
    ops: Param<Tensor<2>>,
    /// Its projection is Q and V side by side.
    stack: GraphStack,
    #[module(skip)]
    config: GraphitConfig,
    #[module(skip)]
    layout: Layout,
}

impl Graphit {
    /// The logarithm of the kernel; -inf for pairs with padding, whose eigenvectors are 0. Shapes: batch [B, N] -> [B, N, N].
    fn bias(&self, batch: &DagBatch) -> Tensor<3> {
        let ([b, n], spectrum) = (batch.dims(), batch.spectrum());
        let [_, k] = spectrum.eigenvalues.dims();
        let vectors = spectrum.eigenvectors.reshape([b, n, k]);
        let values = self.config.kernel.forward(spectrum.eigenvalues).reshape([b, 1, k]);
        let kernel = (vectors.clone() * values).matmul(vectors.swap_dims(1, 2));
        // What is below 0 is rounding.
        kernel.clamp_min(0.0).log()
    }
}

impl DagEncoder for Graphit {
    fn encode(&self, batch: &DagBatch) -> Encoding {
        let ([b, n], d) = (batch.dims(), self.config.d_model);
        let dropout = |stream| batch.pass.dropout(self.config.blocks.dropout, stream);
        let x = dropout(Stream::EncoderEmbedding).apply(0, self.ops.val().select(0, batch.tokens()));
        let degrees = neighbour_pairs(batch, Flow::Both).sum_dim(2).reshape([b * n, 1]);
        let (bias, scale) = (self.bias(batch), (degrees + 1.0).sqrt().recip());
        let attend = |parts: Tensor<2>| {
            let qkv = Tensor::cat(vec![parts.clone().slice([0..b * n, 0..d]), parts], 1);
            // The output map has no bias, so a node may be scaled before it.
            kernel::attention(qkv, Some(bias.clone()), b, self.config.blocks.n_heads, Dropout::NONE) * scale.clone()
        };
        let nodes = self.stack.forward(x, dropout(Stream::EncoderBlocks), attend);
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
