//! [`Readout`]: the node vectors of a graph as one vector.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use crate::batch::{DagBatch, ints};

/// How a graph is read out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Readout {
    /// All N positions side by side: PACE-VAE. Wants sequences of full length.
    Concat,
    /// The output node, last in any topological order of a graph with one sink: PACE-MLM in the paper.
    Output,
    /// The first node: the root of an AST, whose mask looks at descendants.
    Root,
    /// The last position, padding or not: the published MLM code.
    LastPosition,
    /// The mean of the nodes.
    Mean,
}

impl Readout {
    /// The width of the graph vector for N positions of width D.
    pub fn d_graph(self, n: usize, d: usize) -> usize {
        if self == Readout::Concat { n * d } else { d }
    }

    /// Shapes: [B*N, D] -> [B, D] or [B, N*D].
    pub fn forward(self, nodes: Tensor<2>, batch: &DagBatch) -> Tensor<2> {
        let ([b, n], [_, d]) = (batch.dims(), nodes.dims());
        let pick = |nodes: Tensor<2>, position: &dyn Fn(usize) -> usize| {
            let rows = (0..b).map(|graph| (graph * n + position(graph)) as i32).collect();
            nodes.select(0, ints(rows, [b], &batch.device()))
        };
        match self {
            Readout::Concat => nodes.reshape([b, n * d]),
            Readout::Output => pick(nodes, &|graph| batch.lengths[graph] - 1),
            Readout::Root => pick(nodes, &|_| 0),
            Readout::LastPosition => pick(nodes, &|_| n - 1),
            Readout::Mean => {
                let valid = batch.valid.clone().reshape([b, n, 1]);
                let sum = (nodes.reshape([b, n, d]) * valid.clone()).sum_dim(1);
                (sum / valid.sum_dim(1)).reshape([b, d])
            }
        }
    }
}
