//! [`StringRows`]: a graph as a string of rows, one per node: its operation and the edges into it.

use burn::tensor::{Device, Tensor};
use pace_graph::Draft;
use serde::{Deserialize, Serialize};

use crate::batch::{DagBatch, floats, ints};

/// Which bit of a row stands for which edge. Positions are topological, so all sources come before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeBits {
    /// Bit i for the edge from position i: S-VAE.
    FromPosition,
    /// Bit k for the edge from the node k + 1 positions before: GraphRNN, whose M is N - 1 here, so that no edge is lost.
    FromBefore,
}

impl EdgeBits {
    /// The source whose edge into `position` a bit stands for.
    fn source(self, position: usize, bit: usize) -> Option<usize> {
        match self {
            EdgeBits::FromPosition => (bit < position).then_some(bit),
            EdgeBits::FromBefore => position.checked_sub(bit + 1),
        }
    }
}

/// How a node becomes a row: `[onehot(operation) ; bits of the edges into it]`, of T tokens and N - 1 bits.
#[derive(Clone, Debug)]
pub struct StringRows {
    n_tokens: usize,
    n_bits: usize,
    bits: EdgeBits,
}

impl StringRows {
    /// For graphs of at most `max_nodes` nodes.
    pub fn new(n_tokens: usize, max_nodes: usize, bits: EdgeBits) -> StringRows {
        // The last position is nobody's source.
        StringRows { n_tokens, n_bits: max_nodes.saturating_sub(1).max(1), bits }
    }

    /// Width of a row, X.
    pub fn width(&self) -> usize {
        self.n_tokens + self.n_bits
    }

    /// The rows of all nodes. Shapes: batch [B, N] -> [B*N, X].
    pub fn of_batch(&self, batch: &DagBatch) -> Tensor<2> {
        let ([b, n], device) = (batch.dims(), batch.device());
        let mut ops = vec![0.0; b * n * self.n_tokens];
        for (row, &token) in ops.chunks_exact_mut(self.n_tokens).zip(&batch.host_tokens) {
            row[usize::from(token)] = 1.0;
        }
        // Where in a graph's matrix of edges, [N, N], each bit stands. The matrix may be wider or narrower than a row.
        let all = (0..n).flat_map(|position| (0..self.n_bits).map(move |bit| (position, bit)));
        let sources: Vec<_> = all.map(|(position, bit)| (position, self.bits.source(position, bit))).collect();
        let places = sources.iter().map(|&(position, source)| (position * n + source.unwrap_or(0)) as i32).collect();
        let known = sources.iter().map(|&(_, source)| if source.is_some() { 1.0 } else { 0.0 }).collect();
        let edges = batch.edges().reshape([b, n * n]).select(1, ints(places, [sources.len()], &device));
        let bits = edges * floats(known, [1, sources.len()], &device);
        Tensor::cat(vec![floats(ops, [b * n, self.n_tokens], &device), bits.reshape([b * n, self.n_bits])], 1)
    }

    /// The row at one position of growing graphs; 0 for graphs without that position. Shapes: B drafts -> [B, X].
    pub fn of_drafts(&self, drafts: &[Draft], position: usize, device: &Device) -> Tensor<2> {
        let width = self.width();
        let mut rows = vec![0.0; drafts.len() * width];
        for (draft, row) in drafts.iter().zip(rows.chunks_exact_mut(width)).filter(|(draft, _)| position < draft.len())
        {
            let (op, bits) = row.split_at_mut(self.n_tokens);
            op[usize::from(draft.ops()[position])] = 1.0;
            for (bit, value) in bits.iter_mut().enumerate() {
                let source = self.bits.source(position, bit);
                *value =
                    if source.is_some_and(|source| draft.predecessors(position).contains(&source)) { 1.0 } else { 0.0 };
            }
        }
        floats(rows, [drafts.len(), width], device)
    }
}
