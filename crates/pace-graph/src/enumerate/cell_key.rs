//! [`CellKey`]: a NAS-Bench-101 cell in one word.

use super::skeleton::{INPUT, MAX_NODES, N_INNER_OPS, OUTPUT, edge_bit, edges_of};
use crate::dag::{Dag, Op};

const EDGE_BITS: u32 = 21;
const OP_BITS: u32 = 2;
const N_SHIFT: u32 = EDGE_BITS + OP_BITS * (MAX_NODES as u32 - 2);

/// A cell in a given topological order: number of nodes, then operations (2 bits each), then edges (21 bits).
///
/// Under the canonical order equal keys are isomorphic cells, and keys sort by size first. The space keeps 423,624 of them,
/// 8 bytes each; [`GraphKey`](crate::GraphKey) is the key of graphs of any kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct CellKey(u64);

impl CellKey {
    /// Packs `dag` in `order`; `None` if its size, operations, input or output are not those of a NAS-Bench-101 cell.
    pub(super) fn new(dag: &Dag, order: &[usize]) -> Option<CellKey> {
        let n_nodes = order.len();
        if !(2..=MAX_NODES).contains(&n_nodes) || dag.op(order[0]) != INPUT || dag.op(order[n_nodes - 1]) != OUTPUT {
            return None;
        }
        let mut position = [0; MAX_NODES];
        let mut ops = 0;
        for (index, &node) in order.iter().enumerate() {
            position[node] = index;
            if (1..n_nodes - 1).contains(&index) {
                let inner = u64::from(dag.op(node)).checked_sub(1).filter(|&op| op < N_INNER_OPS as u64)?;
                ops |= inner << (OP_BITS * (index as u32 - 1));
            }
        }
        let edges = dag.edges().fold(0, |edges, (from, to)| edges | edge_bit(position[from], position[to]));
        Some(CellKey((n_nodes as u64) << N_SHIFT | ops << EDGE_BITS | u64::from(edges)))
    }

    pub(super) fn n_nodes(self) -> usize {
        (self.0 >> N_SHIFT) as usize
    }

    /// The cell, in the order in which it was packed.
    pub(super) fn cell(self) -> Dag {
        let n_nodes = self.n_nodes();
        let op = |node: usize| match node {
            0 => INPUT,
            node if node + 1 == n_nodes => OUTPUT,
            node => (self.0 >> (EDGE_BITS + OP_BITS * (node as u32 - 1)) & 3) as Op + 1,
        };
        let edges = (self.0 & ((1 << EDGE_BITS) - 1)) as u32;
        Dag::new((0..n_nodes).map(op).collect(), edges_of(n_nodes, edges)).expect("a key packs a cell")
    }
}
