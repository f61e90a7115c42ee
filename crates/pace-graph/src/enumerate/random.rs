//! [`RandomDag`] and [`RandomAst`]: graphs of any size, for tests and benchmarks.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::Sampler;
use crate::dag::{Dag, Op};
use crate::spec::DagSpec;

/// Random DAGs: each pair of a random order joined with the same probability, operations uniform.
///
/// The numbering is not topological, so that nothing downstream can rely on one. O(n^2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomDag {
    /// At least 1.
    pub n_nodes: usize,
    /// Operations `0..n_ops`.
    pub n_ops: Op,
    /// Of each of the n (n - 1) / 2 pairs.
    pub edge_probability: f64,
}

impl Sampler for RandomDag {
    fn spec(&self) -> DagSpec {
        DagSpec::new("random", (0..self.n_ops).map(|op| format!("op{op}")), self.n_nodes)
    }

    /// # Panics
    /// If there are no nodes or no operations, or the probability is outside `0..=1`.
    fn sample(&self, rng: &mut dyn Rng) -> Dag {
        let ops = (0..self.n_nodes).map(|_| rng.random_range(0..self.n_ops)).collect();
        let mut order: Vec<usize> = (0..self.n_nodes).collect();
        order.shuffle(rng);
        let pairs = (1..self.n_nodes).flat_map(|to| (0..to).map(move |from| (from, to)));
        let edges = pairs.filter(|_| rng.random_bool(self.edge_probability)).map(|(from, to)| (order[from], order[to]));
        Dag::new(ops, edges.collect::<Vec<_>>()).expect("edges follow an order")
    }
}

/// Random trees in DFS pre-order, shaped like syntax trees: node `v` goes below node `v - 1` or below an ancestor of it.
///
/// The walk starts at the node before and climbs one step for every head of a fair coin; the new node goes below where it
/// stops. Without a bound this is the contour walk of a uniform plane tree, of depth about sqrt(n). The bound keeps it
/// shallow: 12 gives 5 to 6 ancestors per node, as real ASTs have, whose depth is 13 to 24. O(n).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomAst {
    /// At least 1.
    pub n_nodes: usize,
    /// Operations `0..n_types`.
    pub n_types: Op,
    /// No node is deeper; at least 1 if there is more than one node.
    pub max_depth: usize,
}

impl Sampler for RandomAst {
    fn spec(&self) -> DagSpec {
        DagSpec::ast((0..self.n_types).map(|op| format!("type{op}")))
    }

    /// # Panics
    /// If there are no nodes, no types, or no room for a second node.
    fn sample(&self, rng: &mut dyn Rng) -> Dag {
        assert!(self.n_nodes < 2 || self.max_depth > 0, "a tree of depth 0 has one node");
        let ops = (0..self.n_nodes).map(|_| rng.random_range(0..self.n_types)).collect();
        let mut path = vec![0]; // from the root to the node before
        let mut edges = Vec::with_capacity(self.n_nodes);
        for node in 1..self.n_nodes {
            path.truncate(self.max_depth);
            while path.len() > 1 && rng.random() {
                path.pop();
            }
            edges.push((path[path.len() - 1], node));
            path.push(node);
        }
        Dag::new(ops, edges).expect("edges go down")
    }
}
