//! [`Skeleton`]: the adjacency matrix of a NAS-Bench-101 cell before its inner nodes get operations.

use crate::dag::{Dag, Op};

/// NAS-Bench-101 has cells of at most this many nodes.
pub(super) const MAX_NODES: usize = 7;
/// And at most this many edges.
const MAX_EDGES: u32 = 9;
/// Operations of the inner nodes: conv1x1, conv3x3, maxpool3x3, numbered from 1.
pub(super) const N_INNER_OPS: usize = 3;
pub(super) const INPUT: Op = 0;
pub(super) const OUTPUT: Op = 4;

/// An upper-triangular adjacency matrix in which every node lies on a path from node 0 to the last node.
///
/// Bit `j (j - 1) / 2 + i` is the edge `i -> j`, `i < j`: at most 21 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Skeleton {
    n_nodes: usize,
    edges: u32,
}

/// The bit of edge `from -> to`, `from < to`.
pub(super) fn edge_bit(from: usize, to: usize) -> u32 {
    1 << (to * (to - 1) / 2 + from)
}

/// The edges of a bit set made of [`edge_bit`]s over `n_nodes` nodes.
pub(super) fn edges_of(n_nodes: usize, bits: u32) -> impl Iterator<Item = (usize, usize)> {
    let pairs = (1..n_nodes).flat_map(|to| (0..to).map(move |from| (from, to)));
    pairs.filter(move |&(from, to)| bits & edge_bit(from, to) != 0)
}

/// All matrices of NAS-Bench-101 with 2 to 7 nodes and at most 9 edges, ascending: 6,472 of them.
///
/// Isomorphic matrices are all there; [`Nas101Space`](super::Nas101Space) merges them. 2.1 million candidates.
pub fn nas101_skeletons() -> Vec<Skeleton> {
    let candidates = |n_nodes: usize| (0..1_u32 << (n_nodes * (n_nodes - 1) / 2)).map(move |edges| (n_nodes, edges));
    (2..=MAX_NODES).flat_map(candidates).filter_map(|(n_nodes, edges)| Skeleton::new(n_nodes, edges)).collect()
}

impl Skeleton {
    fn new(n_nodes: usize, edges: u32) -> Option<Skeleton> {
        if edges.count_ones() > MAX_EDGES {
            return None;
        }
        // Upper-triangular: a predecessor for each node but the first leads back to the first, and so for successors.
        let mut have_successor = 0;
        for to in 1..n_nodes {
            let predecessors = edges >> (to * (to - 1) / 2) & ((1 << to) - 1);
            if predecessors == 0 {
                return None;
            }
            have_successor |= predecessors;
        }
        (have_successor + 1 == 1 << (n_nodes - 1)).then_some(Skeleton { n_nodes, edges })
    }

    /// Nodes, input and output included.
    pub fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    /// The edges `(from, to)`, ascending by target.
    pub fn edges(&self) -> impl Iterator<Item = (usize, usize)> {
        edges_of(self.n_nodes, self.edges)
    }

    /// How many labellings the inner nodes have: `3^(n - 2)`.
    pub fn n_labellings(&self) -> usize {
        N_INNER_OPS.pow(self.n_nodes as u32 - 2)
    }

    /// The labelled cells, every labelling of the inner nodes once.
    pub fn cells(&self) -> impl Iterator<Item = Dag> + use<> {
        // Node numbers stand in for operations, so that each labelling maps one checked graph.
        let ops = (0..self.n_nodes as Op).collect();
        let numbered = Dag::new(ops, self.edges()).expect("an upper-triangular matrix is a DAG");
        let last = self.n_nodes - 1;
        (0..self.n_labellings()).map(move |labelling| {
            numbered.map_ops(|node| match usize::from(node) {
                0 => INPUT,
                node if node == last => OUTPUT,
                node => (labelling / N_INNER_OPS.pow(node as u32 - 1) % N_INNER_OPS) as Op + 1,
            })
        })
    }
}
