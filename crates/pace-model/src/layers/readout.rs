//! [`Readout`]: the node vectors of a graph as one vector.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use crate::batch::{DagBatch, floats, ints};

/// How a graph is read out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Readout {
    /// All N positions side by side: PACE-VAE. Needs sequences of full length.
    Concat,
    /// One slot per operation, side by side, each the sum of the nodes with that operation: the published code on BN, where
    /// every operation occurs once and the encoding therefore depends on no order.
    ByOp,
    /// The output node, last in any topological order of a graph with one sink: PACE-MLM in the paper.
    Output,
    /// The first node: the root of an AST, whose mask looks at descendants.
    Root,
    /// The last position, padding or not: the published MLM code.
    LastPosition,
    /// The mean of the nodes.
    Mean,
    /// The sum of the nodes: GIN.
    Sum,
    /// The sum of all but the first `first` and the last `last` nodes: the GCN of D-VAE's authors leaves out input and output.
    InnerSum {
        /// How many nodes at the beginning do not count.
        first: usize,
        /// How many nodes at the end do not count.
        last: usize,
    },
}

impl Readout {
    /// The width of the graph vector for N positions of width D and T operations.
    pub fn d_graph(self, n: usize, n_ops: usize, d: usize) -> usize {
        match self {
            Readout::Concat => n * d,
            Readout::ByOp => n_ops * d,
            Readout::Output | Readout::Root | Readout::LastPosition => d,
            Readout::Mean | Readout::Sum | Readout::InnerSum { .. } => d,
        }
    }

    /// The rows of [B*N, D] that are read, one per graph and ascending; `None` if all are.
    pub fn rows(self, batch: &DagBatch) -> Option<Vec<u32>> {
        let [b, n] = batch.dims();
        let pick =
            |position: &dyn Fn(usize) -> usize| (0..b).map(|graph| (graph * n + position(graph)) as u32).collect();
        match self {
            Readout::Output => Some(pick(&|graph| batch.lengths[graph] - 1)),
            Readout::Root => Some(pick(&|_| 0)),
            Readout::LastPosition => Some(pick(&|_| n - 1)),
            Readout::Concat | Readout::ByOp | Readout::Mean | Readout::Sum | Readout::InnerSum { .. } => None,
        }
    }

    /// Shapes: [B*N, D] -> [B, N*D], [B, T*D] or [B, D].
    pub fn forward(self, nodes: Tensor<2>, n_ops: usize, batch: &DagBatch) -> Tensor<2> {
        let ([b, n], [_, d]) = (batch.dims(), nodes.dims());
        match self {
            Readout::Concat => nodes.reshape([b, n * d]),
            Readout::ByOp => {
                let mut member = vec![0.0; b * n_ops * n];
                for (graph, &length) in batch.lengths.iter().enumerate() {
                    for position in 0..length {
                        let op = usize::from(batch.host_tokens[graph * n + position]);
                        // A masked node has no operation.
                        if op < n_ops {
                            member[(graph * n_ops + op) * n + position] = 1.0;
                        }
                    }
                }
                let member = floats(member, [b, n_ops, n], &batch.device());
                member.matmul(nodes.reshape([b, n, d])).reshape([b, n_ops * d]) // [B, T, N] x [B, N, D]
            }
            Readout::Output | Readout::Root | Readout::LastPosition => {
                let rows = self.rows(batch).expect("one row per graph").into_iter().map(|row| row as i32).collect();
                nodes.select(0, ints(rows, [b], &batch.device()))
            }
            Readout::Mean => {
                let valid = batch.valid();
                let sum = weighted_sum(nodes, valid.clone());
                sum / valid.sum_dim(1)
            }
            Readout::Sum => weighted_sum(nodes, batch.valid()),
            Readout::InnerSum { first, last } => {
                let inner = |&length: &usize| {
                    let inside = first..length.saturating_sub(last);
                    (0..n).map(move |position| if inside.contains(&position) { 1.0 } else { 0.0 })
                };
                let inner = batch.lengths.iter().flat_map(inner).collect();
                weighted_sum(nodes, floats(inner, [b, n], &batch.device()))
            }
        }
    }
}

/// The nodes of each graph times their weights, added up. Shapes: [B*N, D], [B, N] -> [B, D].
fn weighted_sum(nodes: Tensor<2>, weights: Tensor<2>) -> Tensor<2> {
    let ([b, n], [_, d]) = (weights.dims(), nodes.dims());
    (nodes.reshape([b, n, d]) * weights.reshape([b, n, 1])).sum_dim(1).reshape([b, d])
}
