//! The subgraph extension of dag2seq (the paper's last appendix): labels that see a neighbourhood.
//!
//! The sequence `(f(G_1^h), p_1), ..., (f(G_n^h), p_n)` replaces the operation of each position by an injective function
//! of its height-h rooted subgraph, the subgraph induced by the nodes within `h` hops of it. By the corollary of Theorem
//! 3.1 it still represents the DAG injectively; models that look labels up gain the structure around each node.
//!
//! Here `f` is exact: the canonical form of the subgraph with its root marked, numbered in order of first sight.

use std::collections::HashMap;

use crate::canon::{canonical_order, canonicalise_coloured};
use crate::dag::Dag;
use crate::dag2seq::Sequence;

/// Which edges a hop may follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Hops {
    /// Either way along an edge: the paper's "nodes within h hops".
    #[default]
    Both,
    /// From a node to its predecessors only: what the computation up to this node can depend on.
    Predecessors,
}

/// The number of a rooted subgraph's isomorphism class, given by a [`RootedLabels`].
pub type Label = u32;

/// The function f: rooted subgraphs of height `h` to labels, injective, shared by all graphs of a dataset.
///
/// ```
/// use pace_graph::{Dag, Hops, RootedLabels};
/// let dag: Dag = "0 2 2 2 1 : 0>1 0>2 1>3 2>4 3>4".parse()?;
/// let mut labels = RootedLabels::new(1, Hops::Both);
/// let (sequence, label) = labels.dag2seq(&dag);
/// // Three nodes share operation 2; one hop tells them apart.
/// assert_eq!(sequence.ops().iter().filter(|&&op| op == 2).count(), 3);
/// assert_eq!(labels.len(), 5);
/// assert_eq!(label.len(), 5);
/// # Ok::<(), pace_graph::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RootedLabels {
    height: usize,
    hops: Hops,
    labels: HashMap<(Sequence, u32), Label>,
}

impl RootedLabels {
    /// An empty dictionary for subgraphs of the given height. With height 0 a label is just an operation.
    pub fn new(height: usize, hops: Hops) -> RootedLabels {
        RootedLabels { height, hops, labels: HashMap::new() }
    }

    /// How many different rooted subgraphs have been seen.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether no subgraph has been seen.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The canonical sequence of a graph and, per position, the label of its rooted subgraph; new ones are added.
    pub fn dag2seq(&mut self, dag: &Dag) -> (Sequence, Vec<Label>) {
        let order = canonical_order(dag);
        let labels = order.iter().map(|&node| self.label(dag, node)).collect();
        (Sequence::in_order(dag, &order), labels)
    }

    /// f(G_root^h).
    pub fn label(&mut self, dag: &Dag, root: usize) -> Label {
        let next = self.labels.len() as Label;
        *self.labels.entry(rooted_subgraph(dag, root, self.height, self.hops)).or_insert(next)
    }
}

/// The canonical form of the height-h rooted subgraph of a node, and the canonical index of its root: equal for two nodes iff an
/// isomorphism of their subgraphs maps one root to the other.
pub fn rooted_subgraph(dag: &Dag, root: usize, height: usize, hops: Hops) -> (Sequence, u32) {
    let nodes = within_hops(dag, root, height, hops);
    let index: HashMap<usize, usize> = nodes.iter().enumerate().map(|(index, &node)| (node, index)).collect();
    let edges = nodes.iter().flat_map(|&to| {
        let index = &index;
        dag.predecessors(to).filter_map(move |from| Some((*index.get(&from)?, index[&to])))
    });
    let ops = nodes.iter().map(|&node| dag.op(node)).collect();
    let subgraph = Dag::new(ops, edges.collect::<Vec<_>>()).expect("an induced subgraph of a DAG is a DAG");
    let colour = |node: usize| u32::from(subgraph.op(node)) << 1 | u32::from(nodes[node] == root);
    let order = canonicalise_coloured(&subgraph, colour).order;
    let root = order.iter().position(|&node| nodes[node] == root).expect("the root is in its subgraph");
    (Sequence::in_order(&subgraph, &order), root as u32)
}

/// The nodes at most `height` hops from `root`, by breadth-first search.
fn within_hops(dag: &Dag, root: usize, height: usize, hops: Hops) -> Vec<usize> {
    let mut nodes = vec![root];
    let mut seen = vec![false; dag.n_nodes()];
    seen[root] = true;
    let mut ring = 0;
    for _ in 0..height {
        let end = nodes.len();
        for position in ring..end {
            let node = nodes[position];
            let forward = (hops == Hops::Both).then(|| dag.successors(node)).into_iter().flatten();
            for next in dag.predecessors(node).chain(forward) {
                if !std::mem::replace(&mut seen[next], true) {
                    nodes.push(next);
                }
            }
        }
        ring = end;
    }
    nodes
}
