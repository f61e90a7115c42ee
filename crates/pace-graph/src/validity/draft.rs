//! [`Draft`]: one graph while it grows.

use super::edge_rule::Pick;
use crate::dag::{Dag, Op};
use crate::spec::DagSpec;

/// A graph that grows node by node, the start symbol at position 0.
#[derive(Clone, Debug)]
pub struct Draft {
    ops: Vec<Op>,
    /// Predecessors of each position, ascending; a node without any hangs on the start symbol.
    predecessors: Vec<Vec<usize>>,
    /// Who each position may attend to apart from itself: bit k of row i is set iff there is a path k -> i.
    ancestors: Vec<u64>,
    /// Words per row of `ancestors`.
    stride: usize,
    /// Successors of each position.
    out_degrees: Vec<usize>,
    /// Edges between real nodes.
    n_edges: usize,
}

impl Draft {
    /// The start symbol alone, with room for the largest graph of `spec`.
    ///
    /// # Panics
    /// If the spec has no start symbol.
    pub fn new(spec: &DagSpec) -> Draft {
        let start = spec.start.expect("decoding starts from a start symbol, and the spec has none");
        let stride = spec.max_nodes.div_ceil(64);
        Draft {
            ops: vec![start],
            predecessors: vec![Vec::new()],
            ancestors: vec![0; stride],
            stride,
            out_degrees: vec![0],
            n_edges: 0,
        }
    }

    /// Adds a node that reads the given real nodes (positions from 1), ascending. O(p n / 64) for p predecessors.
    pub fn push(&mut self, op: Op, predecessors: &[usize]) {
        let position = self.ops.len();
        self.n_edges += predecessors.len();
        let predecessors = if predecessors.is_empty() { vec![0] } else { predecessors.to_vec() };
        self.ancestors.resize((position + 1) * self.stride, 0);
        let (before, row) = self.ancestors.split_at_mut(position * self.stride);
        for &from in &predecessors {
            self.out_degrees[from] += 1;
            row[from / 64] |= 1 << (from % 64);
            let source = &before[from * self.stride..(from + 1) * self.stride];
            row.iter_mut().zip(source).for_each(|(word, ancestors)| *word |= ancestors);
        }
        self.ops.push(op);
        self.predecessors.push(predecessors);
        self.out_degrees.push(0);
    }

    /// Positions so far, start symbol included: the position of the next node.
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Real nodes so far.
    pub fn n_nodes(&self) -> usize {
        self.ops.len() - 1
    }

    /// Edges between real nodes.
    pub fn n_edges(&self) -> usize {
        self.n_edges
    }

    /// The operation at each position.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The predecessors of a position.
    pub fn predecessors(&self, position: usize) -> &[usize] {
        &self.predecessors[position]
    }

    /// Whether there is a path from position `key` to `position`.
    pub fn is_ancestor(&self, key: usize, position: usize) -> bool {
        self.ancestors[position * self.stride + key / 64] >> (key % 64) & 1 == 1
    }

    /// Whether a node has no successor yet.
    pub fn is_loose(&self, position: usize) -> bool {
        self.out_degrees[position] == 0
    }

    /// How many real nodes have no successor yet.
    pub fn n_loose(&self) -> usize {
        self.out_degrees[1..].iter().filter(|&&degree| degree == 0).count()
    }

    /// For each real node, that it must be read if it is loose, and otherwise `other`.
    pub fn loose_or(&self, other: Pick) -> Vec<Pick> {
        (1..self.len()).map(|position| if self.is_loose(position) { Pick::Must } else { other }).collect()
    }

    /// How many nodes have the operation.
    pub fn count(&self, op: Op) -> usize {
        self.ops[1..].iter().filter(|&&other| other == op).count()
    }

    /// The graph without its start symbol.
    ///
    /// # Panics
    /// If there is no node yet.
    pub fn into_dag(self) -> Dag {
        let edges: Vec<_> = (1..self.ops.len())
            .flat_map(|to| self.predecessors[to].iter().filter(|&&from| from > 0).map(move |from| (from - 1, to - 1)))
            .collect();
        Dag::new(self.ops[1..].to_vec(), edges).expect("at least one node, and edges go up")
    }
}
