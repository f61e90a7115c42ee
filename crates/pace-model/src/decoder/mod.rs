//! The decoder joint: latent vectors back to DAGs.

mod choice;
mod constraint;
mod draft;
mod generate;
mod heads;
mod options;
mod pace;
mod steps;

use burn::module::{Module, ModuleDisplay};
use burn::tensor::Tensor;
use pace_graph::Dag;

use crate::batch::DagBatch;
use crate::layers::NodeEmbedding;

pub use heads::Heads;
pub use options::{Choice, DecodeOptions, Mode};
pub use pace::{PaceDecoder, PaceDecoderConfig};

/// A map from latent vectors to distributions over DAGs.
pub trait DagDecoder: Module + ModuleDisplay {
    /// The negative log-likelihood of each graph of `batch` given its latent vector, [B, Z] -> `[B]`.
    ///
    /// `shared` is the encoder's node embedding, for decoders made without one of their own.
    fn nll(&self, z: Tensor<2>, batch: &DagBatch, shared: Option<&NodeEmbedding>) -> Tensor<1>;

    /// A graph for each latent vector, without start symbol, numbered in the order of decoding, which is topological.
    /// Shapes: [B, Z] -> B graphs.
    ///
    /// Nothing is differentiated: hand in plain tensors and `Module::valid` modules, or a graph of every step is recorded.
    /// Memory grows with B; callers cut large batches, with [`DecodeOptions::starting_at`] to keep the draws the same.
    /// [`Mode`] says which graphs can come out; outside of [`Mode::Constrained`], ask `DagSpec::is_valid`.
    fn decode(&self, z: Tensor<2>, shared: Option<&NodeEmbedding>, options: &DecodeOptions) -> Vec<Dag>;
}
