//! The structure of a batch as tensors: who is whose neighbour, and Laplacian eigenvectors with random signs.

use burn::tensor::Tensor;
use rand::RngExt;

use super::message::Flow;
use crate::batch::{DagBatch, Stream, floats};

/// 1 if the query hears the key along an edge, else 0, [B, N, N].
///
/// Its logarithm is an attention bias: 0 for allowed pairs, -inf for all others.
pub fn neighbour_pairs(batch: &DagBatch, flow: Flow) -> Tensor<3> {
    let forward = batch.edges();
    match flow {
        Flow::Forward => forward,
        Flow::Backward => forward.swap_dims(1, 2),
        Flow::Both => forward.clone() + forward.swap_dims(1, 2),
    }
}

/// 1 for two different nodes of one graph without an edge between them, else 0, [B, N, N]; 0 for padding.
pub fn stranger_pairs(batch: &DagBatch) -> Tensor<3> {
    let ([b, n], valid) = (batch.dims(), batch.valid());
    let both = valid.clone().reshape([b, n, 1]) * valid.reshape([b, 1, n]);
    let different = Tensor::ones([1, n, n], &batch.device()) - Tensor::<2>::eye(n, &batch.device()).unsqueeze();
    both * different - neighbour_pairs(batch, Flow::Both)
}

/// The eigenvectors of [`DagBatch::spectrum`], [B, N, K], in training each times a random sign.
///
/// An eigenvector and its negative serve as well, so Dwivedi & Bresson (2021) teach a model that signs mean nothing. They draw one
/// sign per column for the whole batch; here every graph has its own. Evaluation keeps the sign that `pace-graph` fixes.
pub fn signed_eigenvectors(batch: &DagBatch) -> Tensor<3> {
    let ([b, n], vectors) = (batch.dims(), batch.spectrum().eigenvectors);
    let [_, k] = vectors.dims();
    let vectors = vectors.reshape([b, n, k]);
    match batch.pass.rng(Stream::EncoderEmbedding) {
        Some(mut rng) => {
            let signs = (0..b * k).map(|_| if rng.random::<bool>() { 1.0 } else { -1.0 }).collect();
            vectors * floats(signs, [b, 1, k], &batch.device())
        }
        None => vectors,
    }
}
