//! The encoder joint: a batch of DAGs to vectors.

mod pace;

use burn::module::{Module, ModuleDisplay};
use burn::tensor::Tensor;

use crate::batch::DagBatch;
use crate::layers::NodeEmbedding;
use crate::layout::Layout;

pub use pace::{MASK_TOKENS, Pace, PaceConfig, Task};

/// What an encoder makes of a batch.
#[derive(Clone, Debug)]
pub struct Encoding {
    /// A vector per position, [B*N, D].
    pub nodes: Tensor<2>,
    /// A vector per graph, [B, G].
    pub graph: Tensor<2>,
}

/// A map from DAGs to vectors.
pub trait DagEncoder: Module + ModuleDisplay {
    /// Encodes a batch laid out by [`DagEncoder::layout`].
    fn encode(&self, batch: &DagBatch) -> Encoding;

    /// How this encoder wants its graphs.
    fn layout(&self) -> &Layout;

    /// Width of a node vector, D.
    fn d_node(&self) -> usize;

    /// Width of a graph vector, G.
    fn d_graph(&self) -> usize;

    /// The node embedding, for decoders that share it.
    fn embedding(&self) -> Option<&NodeEmbedding> {
        None
    }
}
