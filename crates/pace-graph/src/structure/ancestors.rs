//! [`AncestorLists`]: the mask of large sparse graphs, as lists instead of bits.

use super::depth::topological_order;
use super::rule::Diagonal;
use super::tree::DfsTree;
use crate::dag::Dag;

/// The ancestors of every node, ascending, in compressed rows (CSR): 4 bytes per node and per (node, ancestor) pair.
///
/// Real ASTs have 5 to 6 ancestors per node, so attention over them costs n x 6 pairs instead of n x n, and a tree of
/// 30,000 nodes takes under a megabyte where a dense mask takes 113.
///
/// ```
/// use pace_graph::structure::{AncestorLists, Diagonal};
/// let lists = AncestorLists::of_dag(&"0 2 3 1 : 0>1 0>2 1>3 2>3".parse()?, Diagonal::Masked);
/// assert_eq!(lists.get(3), [0, 1, 2]);
/// # Ok::<(), pace_graph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AncestorLists {
    /// `offsets[v]..offsets[v + 1]` is the list of node `v`.
    offsets: Vec<u32>,
    nodes: Vec<u32>,
}

impl AncestorLists {
    /// The lists of a tree: each is its parent's list and the parent. O(n + pairs).
    ///
    /// # Panics
    /// Beyond 2^32 pairs (16 GB), here and in [`AncestorLists::of_dag`].
    pub fn of_tree(tree: &DfsTree, diagonal: Diagonal) -> AncestorLists {
        let itself = usize::from(diagonal == Diagonal::Allowed);
        let n_pairs: usize = (0..tree.n_nodes()).map(|node| tree.depth(node) + itself).sum();
        let mut lists = AncestorLists::with_capacity(tree.n_nodes(), n_pairs);
        for node in 0..tree.n_nodes() {
            if let Some(parent) = tree.parent(node) {
                let above = lists.range(parent);
                lists.nodes.extend_from_within(above);
                if itself == 0 {
                    lists.nodes.push(parent as u32);
                }
            }
            if itself == 1 {
                lists.nodes.push(node as u32);
            }
            lists.close_list();
        }
        lists
    }

    /// The lists of any DAG, by merging the lists of the predecessors in topological order.
    /// O(sum over the edges `u -> v` of the ancestors of `u`, and a sort of every list).
    pub fn of_dag(dag: &Dag, diagonal: Diagonal) -> AncestorLists {
        let n_nodes = dag.n_nodes();
        let order = topological_order(dag);
        let mut merged = AncestorLists::with_capacity(n_nodes, 4 * n_nodes);
        let mut position = vec![0; n_nodes]; // where in the order, and so in `merged`, a node stands
        let mut seen_by = vec![u32::MAX; n_nodes];
        for (index, &node) in order.iter().enumerate() {
            position[node] = index;
            let start = merged.nodes.len();
            for parent in dag.predecessors(node) {
                for entry in merged.range(position[parent]) {
                    let above = merged.nodes[entry];
                    if seen_by[above as usize] != node as u32 {
                        seen_by[above as usize] = node as u32;
                        merged.nodes.push(above);
                    }
                }
            }
            // With itself in every list a parent arrives with its own list; strict lists drop it at the end.
            merged.nodes.push(node as u32);
            merged.nodes[start..].sort_unstable();
            merged.close_list();
        }
        let mut lists = AncestorLists::with_capacity(n_nodes, merged.nodes.len());
        for (node, &place) in position.iter().enumerate() {
            let keep = |&above: &u32| diagonal == Diagonal::Allowed || above != node as u32;
            lists.nodes.extend(merged.get(place).iter().copied().filter(keep));
            lists.close_list();
        }
        lists
    }

    fn with_capacity(n_nodes: usize, n_pairs: usize) -> AncestorLists {
        let mut offsets = Vec::with_capacity(n_nodes + 1);
        offsets.push(0);
        AncestorLists { offsets, nodes: Vec::with_capacity(n_pairs) }
    }

    /// Ends the list that was being written.
    fn close_list(&mut self) {
        self.offsets.push(u32::try_from(self.nodes.len()).expect("fewer than 2^32 pairs"));
    }

    fn range(&self, node: usize) -> std::ops::Range<usize> {
        self.offsets[node] as usize..self.offsets[node + 1] as usize
    }

    /// How many nodes.
    pub fn n_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many (node, ancestor) pairs.
    pub fn n_pairs(&self) -> usize {
        self.nodes.len()
    }

    /// The ancestors of `node`, ascending.
    pub fn get(&self, node: usize) -> &[u32] {
        &self.nodes[self.range(node)]
    }

    /// The pairs `(node, ancestor)`, ascending.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.n_nodes()).flat_map(|node| self.get(node).iter().map(move |&above| (node, above as usize)))
    }

    /// The lists turned round: `get(v)` of the result holds the descendants of `v`, ascending. O(n + pairs).
    pub fn transposed(&self) -> AncestorLists {
        let mut offsets = vec![0; self.n_nodes() + 1];
        self.nodes.iter().for_each(|&above| offsets[above as usize + 1] += 1);
        (0..self.n_nodes()).for_each(|node| offsets[node + 1] += offsets[node]);
        let mut next = offsets.clone();
        let mut nodes = vec![0; self.n_pairs()];
        for (node, above) in self.pairs() {
            nodes[next[above] as usize] = node as u32;
            next[above] += 1;
        }
        AncestorLists { offsets, nodes }
    }

    /// Bytes held on the heap.
    pub fn n_bytes(&self) -> usize {
        (self.offsets.capacity() + self.nodes.capacity()) * size_of::<u32>()
    }
}
