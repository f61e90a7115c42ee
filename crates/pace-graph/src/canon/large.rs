//! Canonical order of graphs of more than 64 nodes: a little refinement, then Traces.

use super::refine::{Cells, mix};
use super::{Canonical, GroupSize, Method, nauty};
use crate::csr::Csr;
use crate::dag::Dag;
use crate::structure::depths;

/// Rounds of refinement before the search. A fixed number, because refining a long chain-like graph to the end takes as
/// many rounds as it is long, and Traces refines faster itself.
const ROUNDS: usize = 3;

/// Per node its neighbours, without directions.
fn undirected(dag: &Dag) -> Csr<i32> {
    let mut graph = Csr::with_capacity(dag.n_nodes(), 2 * dag.n_edges());
    for node in 0..dag.n_nodes() {
        graph.push_row(dag.predecessors(node).chain(dag.successors(node)).map(|other| other as i32));
    }
    graph
}

pub(super) fn canonicalise(dag: &Dag, colour: impl Fn(usize) -> u32) -> Canonical {
    let n = dag.n_nodes();
    let depth = depths(dag);
    let (mut order, mut node_colour, mut signature) = (vec![0; n], vec![0; n], vec![0; n]);
    let mut cells = Cells { order: &mut order, colour: &mut node_colour, signature: &mut signature };
    let n_cells = cells.init(|node| (depth[node] as u64) << 32 | u64::from(colour(node)));
    let mut method = Method::Distinct;
    let mut automorphisms = GroupSize::TRIVIAL;
    if n_cells < n {
        let graph = undirected(dag);
        let n_cells = cells.refine(n_cells, ROUNDS, |node, colour| {
            let hashes = graph.row(node).iter().map(|&other| mix(colour[other as usize]));
            hashes.fold(0, u64::wrapping_add)
        });
        method = Method::Refinement;
        if n_cells < n {
            method = Method::Traces;
            automorphisms = nauty::traces(&mut cells, graph);
        }
    }
    Canonical { order: cells.order.iter().map(|&node| node as usize).collect(), method, automorphisms }
}
