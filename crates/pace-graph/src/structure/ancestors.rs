//! [`AncestorLists`]: the mask of large sparse graphs, as lists instead of bits.

use super::depth::topological_order;
use super::rule::Diagonal;
use super::tree::DfsTree;
use crate::csr::Csr;
use crate::dag::Dag;

/// The ancestors of every node, ascending, in compressed rows (CSR): 4 bytes per node and per (node, ancestor) pair.
///
/// Real ASTs have 5 to 6 ancestors per node. Attention over the lists costs n x 6 pairs instead of n x n, and a tree of
/// 30,000 nodes takes under a megabyte; a dense mask takes 113.
///
/// ```
/// use pace_graph::structure::{AncestorLists, Diagonal};
/// let lists = AncestorLists::of_dag(&"0 2 3 1 : 0>1 0>2 1>3 2>3".parse()?, Diagonal::Masked);
/// assert_eq!(lists.get(3), [0, 1, 2]);
/// # Ok::<(), pace_graph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AncestorLists(Csr<u32>);

impl AncestorLists {
    /// The lists of a tree: each is its parent's list and the parent. O(n + pairs).
    ///
    /// # Panics
    /// Beyond 2^32 pairs (16 GB), here and in [`AncestorLists::of_dag`].
    pub fn of_tree(tree: &DfsTree, diagonal: Diagonal) -> AncestorLists {
        let itself = usize::from(diagonal == Diagonal::Allowed);
        let n_pairs: usize = (0..tree.n_nodes()).map(|node| tree.depth(node) + itself).sum();
        let mut lists = Csr::with_capacity(tree.n_nodes(), n_pairs);
        for node in 0..tree.n_nodes() {
            let own = (diagonal == Diagonal::Allowed).then_some(node as u32);
            match tree.parent(node) {
                Some(parent) => lists.push_copy(parent, own.or(Some(parent as u32))),
                None => _ = lists.push_row(own),
            }
        }
        AncestorLists(lists)
    }

    /// The lists of any DAG, by merging the lists of the predecessors in topological order.
    /// O(sum over the edges `u -> v` of the ancestors of `u`, and a sort of every list).
    pub fn of_dag(dag: &Dag, diagonal: Diagonal) -> AncestorLists {
        let n_nodes = dag.n_nodes();
        let order = topological_order(dag);
        let mut merged = Csr::with_capacity(n_nodes, 4 * n_nodes); // in topological order
        let mut position = vec![0; n_nodes];
        let mut seen_by = vec![u32::MAX; n_nodes];
        let mut list = Vec::new();
        for (index, &node) in order.iter().enumerate() {
            position[node] = index;
            // With itself in every list a parent arrives with its own list; strict lists drop it at the end.
            list.push(node as u32);
            for parent in dag.predecessors(node) {
                for &above in merged.row(position[parent]) {
                    if seen_by[above as usize] != node as u32 {
                        seen_by[above as usize] = node as u32;
                        list.push(above);
                    }
                }
            }
            merged.push_row(list.drain(..)).sort_unstable();
        }
        let mut lists = Csr::with_capacity(n_nodes, merged.n_items());
        for (node, &position) in position.iter().enumerate() {
            let keep = |&above: &u32| diagonal == Diagonal::Allowed || above != node as u32;
            lists.push_row(merged.row(position).iter().copied().filter(keep));
        }
        AncestorLists(lists)
    }

    /// How many nodes.
    pub fn n_nodes(&self) -> usize {
        self.0.n_rows()
    }

    /// How many (node, ancestor) pairs.
    pub fn n_pairs(&self) -> usize {
        self.0.n_items()
    }

    /// The ancestors of `node`, ascending.
    pub fn get(&self, node: usize) -> &[u32] {
        self.0.row(node)
    }

    /// The pairs `(node, ancestor)`, ascending.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + Clone + '_ {
        (0..self.n_nodes()).flat_map(|node| self.get(node).iter().map(move |&above| (node, above as usize)))
    }

    /// The lists transposed: `get(v)` of the result holds the descendants of `v`, ascending. O(n + pairs).
    pub fn transposed(&self) -> AncestorLists {
        AncestorLists(Csr::from_pairs(self.n_nodes(), self.pairs().map(|(node, above)| (above, node as u32))))
    }

    /// Bytes held on the heap.
    pub fn n_bytes(&self) -> usize {
        self.0.n_bytes()
    }
}
