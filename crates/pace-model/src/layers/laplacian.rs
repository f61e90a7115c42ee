//! [`LaplacianEncoding`]: where a node is in its graph, by the eigenvectors of the Laplacian.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;
use pace_graph::structure::Laplacian;

use super::graph_structure::signed_eigenvectors;
use super::init::Init;
use crate::batch::{DagBatch, Structure};

/// Laplacian positional encoding (Dwivedi et al., 2020): with u_1, u_2, .. the eigenvectors of the normalised Laplacian of the
/// undirected graph, by ascending eigenvalue, u_1 that of eigenvalue 0,
///
/// ```text
/// p_v = W [u_2(v) ; .. ; u_{K+1}(v)] + b
/// ```
///
/// A graph with fewer eigenvectors has zeros for the rest. Training draws their signs, see [`signed_eigenvectors`].
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
        let vectors = signed_eigenvectors(batch).slice([0..b, 0..n, 1..k + 1]);
        self.map.forward(vectors.reshape([b * n, k]))
    }
}
