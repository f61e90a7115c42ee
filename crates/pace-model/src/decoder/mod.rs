//! The decoder joint: latent vectors back to DAGs.

mod heads;
mod pace;

use burn::module::{Module, ModuleDisplay};
use burn::tensor::Tensor;

use crate::batch::DagBatch;
use crate::layers::NodeEmbedding;

pub use heads::Heads;
pub use pace::{PaceDecoder, PaceDecoderConfig};

/// A map from latent vectors to distributions over DAGs.
pub trait DagDecoder: Module + ModuleDisplay {
    /// The negative log-likelihood of each graph of `batch` given its latent vector, [B, Z] -> [B].
    ///
    /// `shared` is the encoder's node embedding, for decoders made without one of their own.
    fn nll(&self, z: Tensor<2>, batch: &DagBatch, shared: Option<&NodeEmbedding>) -> Tensor<1>;
}
