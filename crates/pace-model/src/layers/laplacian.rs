//! [`LaplacianEncoding`]: where a node is in its graph, by the eigenvectors of the Laplacian.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;
use pace_graph::structure::Laplacian;
use rand::RngExt;

use super::Stream;
use super::init::Init;
use crate::batch::{DagBatch, Structure, floats};

/// Laplacian positional encoding (Dwivedi et al., 2020): with u_1, u_2, .. the eigenvectors of the normalised Laplacian of the
/// undirected graph, by ascending eigenvalue, u_1 that of eigenvalue 0,
///
/// ```text
/// p_v = W [u_2(v) ; .. ; u_{K+1}(v)] + b
/// ```
///
/// A graph with fewer eigenvectors has zeros for the rest. The sign of an eigenvector is arbitrary: evaluation takes the one that
/// `pace_graph::structure::spectrum` fixes, and training draws one. It is drawn for each graph and vector; the authors' code draws
/// it for each vector of a whole batch.
#[derive(Module, Debug)]
pub struct LaplacianEncoding {
    map: Linear,
}

impl LaplacianEncoding {
    /// From `count` eigenvectors, K, to width `d`.
    pub fn new(count: usize, d: usize, init: &mut Init<'_>) -> LaplacianEncoding {
        LaplacianEncoding { map: init.linear(count, d, true) }
    }

    /// What the layout has to request for `count` eigenvectors, besides what is requested already.
    pub fn request(structure: Structure, count: usize) -> Structure {
        // The first one is constant up to degrees.
        structure.spectrum(Laplacian::Normalised, count + 1)
    }

    /// Shapes: batch [B, N] -> [B*N, D].
    pub fn forward(&self, batch: &DagBatch) -> Tensor<2> {
        let ([b, n], [k, _]) = (batch.dims(), self.map.weight.dims());
        let vectors = batch.spectrum().eigenvectors.slice([0..b * n, 1..k + 1]);
        let Some(mut rng) = batch.pass.rng(Stream::EncoderEmbedding) else { return self.map.forward(vectors) };
        let signs = (0..b * k).map(|_| if rng.random_bool(0.5) { 1.0 } else { -1.0 }).collect();
        let turned = vectors.reshape([b, n, k]) * floats(signs, [b, 1, k], &batch.device());
        self.map.forward(turned.reshape([b * n, k]))
    }
}
