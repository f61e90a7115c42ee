//! Canonical order of graphs of at most 64 nodes: bit sets and stack buffers only, no search unless symmetry forces one.

use super::refine::{Cells, mix};
use super::{Canonical, GroupSize, Method, nauty};
use crate::dag::Dag;

/// The largest graph whose adjacency rows fit one machine word.
pub(super) const MAX_NODES: usize = 64;

/// Adjacency as one word per node.
struct Rows {
    predecessors: [u64; MAX_NODES],
    successors: [u64; MAX_NODES],
}

impl Rows {
    fn new(dag: &Dag) -> Rows {
        let mut rows = Rows { predecessors: [0; MAX_NODES], successors: [0; MAX_NODES] };
        for (from, to) in dag.edges() {
            rows.predecessors[to] |= 1 << from;
            rows.successors[from] |= 1 << to;
        }
        rows
    }

    /// Longest-path depths: peel off the nodes whose predecessors are all gone, round by round.
    fn depths(&self, n_nodes: usize) -> [u32; MAX_NODES] {
        let mut depth = [0; MAX_NODES];
        let mut left = u64::MAX >> (MAX_NODES - n_nodes);
        let mut round = 0;
        while left != 0 {
            let before = left;
            for node in bits(before) {
                if self.predecessors[node] & before == 0 {
                    depth[node] = round;
                    left &= !(1 << node);
                }
            }
            round += 1;
        }
        depth
    }
}

pub(super) fn canonicalise(dag: &Dag, colour: impl Fn(usize) -> u32) -> Canonical {
    let n = dag.n_nodes();
    let rows = Rows::new(dag);
    let depth = rows.depths(n);
    let (mut order, mut node_colour, mut signature) = ([0; MAX_NODES], [0; MAX_NODES], [0; MAX_NODES]);
    let mut cells = Cells { order: &mut order[..n], colour: &mut node_colour[..n], signature: &mut signature[..n] };
    let n_cells = cells.init(|node| u64::from(depth[node]) << 32 | u64::from(colour(node)));
    if n_cells == n {
        return found(cells.order, Method::Distinct, GroupSize::TRIVIAL);
    }
    // Depth is part of the colour, so predecessors and successors need no telling apart.
    let adjacent = |node: usize| rows.predecessors[node] | rows.successors[node];
    let n_cells = cells.refine(n_cells, n, |node, colour| {
        bits(adjacent(node)).fold(0, |sum: u64, other| sum.wrapping_add(mix(colour[other])))
    });
    if n_cells == n {
        return found(cells.order, Method::Refinement, GroupSize::TRIVIAL);
    }
    let automorphisms = nauty::dense(&mut cells, adjacent);
    found(cells.order, Method::Nauty, automorphisms)
}

fn found(order: &[u32], method: Method, automorphisms: GroupSize) -> Canonical {
    Canonical { order: order.iter().map(|&node| node as usize).collect(), method, automorphisms }
}

/// The indices of the set bits, ascending.
pub(super) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        lowest
    })
}
