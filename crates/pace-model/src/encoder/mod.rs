//! The encoder joint: a batch of DAGs to vectors.

mod ast;
mod pace;

use burn::module::{Module, ModuleDisplay};
use burn::tensor::Tensor;

use crate::batch::{DagBatch, GraphBatch};
use crate::layers::NodeEmbedding;
use crate::layout::Layout;

pub use ast::{AstPace, AstPaceConfig};
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

    /// The graph vectors alone, [B, G]: for encoders that can leave out what only node vectors need.
    fn encode_graphs(&self, batch: &DagBatch) -> Tensor<2> {
        self.encode(batch).graph
    }

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

/// A map from graphs of any kind to vectors: what objectives that only look at whole graphs need.
///
/// Every [`DagEncoder`] is one. ASTs come in batches of another type, with attributes and depths and without an N x N
/// matrix, so their encoder is only this.
pub trait GraphEncoder: Module + ModuleDisplay {
    /// What is encoded.
    type Batch: GraphBatch;

    /// The vector of each graph, [B, G].
    fn embed(&self, batch: &Self::Batch) -> Tensor<2>;

    /// Width of a graph vector, G.
    fn d_embedding(&self) -> usize;
}

impl<E: DagEncoder> GraphEncoder for E {
    type Batch = DagBatch;

    fn embed(&self, batch: &DagBatch) -> Tensor<2> {
        self.encode_graphs(batch)
    }

    fn d_embedding(&self) -> usize {
        self.d_graph()
    }
}
