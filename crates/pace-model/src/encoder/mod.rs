//! The encoder joint: a batch of DAGs to vectors.

mod ast;
mod pace;

use burn::module::{Module, ModuleDisplay};
use burn::nn::Linear;
use burn::tensor::Tensor;

use crate::batch::{DagBatch, GraphBatch, ints};
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

    /// The vectors of some nodes, ascending rows of all B*N, [R, D]: for encoders that can leave out what others need.
    fn encode_nodes(&self, batch: &DagBatch, rows: &[u32]) -> Tensor<2> {
        let rows: Vec<i32> = rows.iter().map(|&row| row as i32).collect();
        let count = rows.len();
        self.encode(batch).nodes.select(0, ints(rows, [count], &batch.device()))
    }

    /// The graph vectors under a linear map, applied to each of the blocks of its width that make up a vector:
    /// [B, P*D] -> [B, P*Z].
    fn encode_through(&self, batch: &DagBatch, map: &Linear) -> Tensor<2> {
        by_blocks(map, self.encode_graphs(batch))
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

/// A linear map applied to each of the blocks that make up the vector of a graph. Shapes: [B, P*D] -> [B, P*Z].
pub(crate) fn by_blocks(map: &Linear, graph: Tensor<2>) -> Tensor<2> {
    let ([b, width], [d_in, d_out]) = (graph.dims(), map.weight.dims());
    let n_blocks = width / d_in;
    map.forward(graph.reshape([b * n_blocks, d_in])).reshape([b, n_blocks * d_out])
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
