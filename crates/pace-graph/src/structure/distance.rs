//! Shortest-path distances by breadth-first search, for Graphormer's spatial encoding.

use serde::{Deserialize, Serialize};

use crate::dag::Dag;

/// Along which paths distances are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Paths {
    /// Along the edges.
    #[default]
    Directed,
    /// Along or against the edges, as the graph Transformers on undirected graphs measure.
    Undirected,
}

/// A matrix of distances: how many edges a shortest path from one node to another has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distances {
    n_nodes: usize,
    hops: Vec<u32>,
}

/// No path. The largest number, so that comparisons treat it as infinity.
const INFINITE: u32 = u32::MAX;

impl Distances {
    /// No paths at all, not even of length 0.
    pub(super) fn infinite(n_nodes: usize) -> Distances {
        Distances { n_nodes, hops: vec![INFINITE; n_nodes * n_nodes] }
    }

    /// How many nodes.
    pub fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    /// Edges on a shortest path, if there is one (within the cutoff).
    pub fn get(&self, from: usize, to: usize) -> Option<u32> {
        assert!(to < self.n_nodes, "node {to} is outside 0..{}", self.n_nodes);
        Some(self.hops[from * self.n_nodes + to]).filter(|&hops| hops != INFINITE)
    }

    pub(super) fn set(&mut self, from: usize, to: usize, hops: u32) {
        self.hops[from * self.n_nodes + to] = hops;
    }

    /// Row major; [`u32::MAX`] is infinity.
    pub(super) fn hops_mut(&mut self) -> &mut [u32] {
        &mut self.hops
    }
}

/// Distances between all pairs by breadth-first search from every node; 0 from a node to itself. O(n (n + m)).
///
/// With a cutoff, pairs further apart than that count as unconnected (Graphormer: Ying et al. 2021, section 3.1.2, gives
/// all of them one bias) and the search stops there.
pub fn distances(dag: &Dag, paths: Paths, cutoff: Option<u32>) -> Distances {
    let n_nodes = dag.n_nodes();
    let neighbours = Neighbours::new(dag, paths);
    let mut distances = Distances::infinite(n_nodes);
    let mut queue: Vec<usize> = Vec::with_capacity(n_nodes);
    for start in 0..n_nodes {
        let row = &mut distances.hops[start * n_nodes..(start + 1) * n_nodes];
        row[start] = 0;
        queue.clear();
        queue.push(start);
        let mut head = 0;
        while let Some(&node) = queue.get(head) {
            head += 1;
            let hops = row[node];
            if cutoff.is_some_and(|cutoff| hops >= cutoff) {
                break; // everything behind in the queue is at least as far
            }
            for &next in neighbours.of(node) {
                if row[next] == INFINITE {
                    row[next] = hops + 1;
                    queue.push(next);
                }
            }
        }
    }
    distances
}

/// Adjacency in compressed rows: n searches walk it, so it is worth building once.
struct Neighbours {
    offsets: Vec<usize>,
    nodes: Vec<usize>,
}

impl Neighbours {
    fn new(dag: &Dag, paths: Paths) -> Neighbours {
        let mut lists = Neighbours { offsets: Vec::with_capacity(dag.n_nodes() + 1), nodes: Vec::new() };
        lists.offsets.push(0);
        for node in 0..dag.n_nodes() {
            if paths == Paths::Undirected {
                lists.nodes.extend(dag.predecessors(node));
            }
            lists.nodes.extend(dag.successors(node));
            lists.offsets.push(lists.nodes.len());
        }
        lists
    }

    fn of(&self, node: usize) -> &[usize] {
        &self.nodes[self.offsets[node]..self.offsets[node + 1]]
    }
}
