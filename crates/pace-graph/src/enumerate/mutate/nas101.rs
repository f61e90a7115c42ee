//! Steps between NAS-Bench-101 cells: an edge flipped, an operation changed, a node added.

use super::{Mutate, distinct, with_op};
use crate::canon::canonical;
use crate::dag::{Dag, Op};
use crate::enumerate::Nas101Space;
use crate::enumerate::skeleton::{INPUT, MAX_NODES, N_INNER_OPS, OUTPUT};

/// Operations of the inner nodes.
const INNER_OPS: std::ops::RangeInclusive<Op> = 1..=N_INNER_OPS as Op;

impl Mutate for Nas101Space {
    /// As in the benchmark (Ying et al. 2019, section 4.2), a cell is what is left of a 7x7 matrix when nodes off every
    /// path from input to output are dropped. So removing an edge may also remove nodes. And if there are fewer than 7, a
    /// node between two others may be added: in the matrix it was there, without one of its two edges.
    ///
    /// Symmetric, except for steps that remove several nodes: no single edge brings them back.
    fn neighbours(&self, dag: &Dag) -> Vec<Dag> {
        assert!(self.index_of(dag).is_some(), "{dag} is no NAS-Bench-101 cell");
        let dag = canonical(dag);
        let (n, last) = (dag.n_nodes(), dag.n_nodes() - 1);
        let mut edited = Vec::new();
        for node in 1..last {
            edited.extend(INNER_OPS.filter(|&op| op != dag.op(node)).map(|op| with_op(&dag, node, op)));
        }
        for (from, to) in (0..n).flat_map(|from| (0..n).map(move |to| (from, to))) {
            let ops = || dag.ops().collect::<Vec<Op>>();
            if dag.has_edge(from, to) {
                let left = Dag::new(ops(), dag.edges().filter(|&edge| edge != (from, to)));
                edited.extend(pruned(&left.expect("fewer edges close no cycle")));
            } else if from != last && to != 0 {
                // Backwards in this numbering may still be forwards in another one.
                edited.extend(Dag::new(ops(), dag.edges().chain([(from, to)])).ok());
            }
            if n < MAX_NODES && from != last && to != 0 {
                let joined = |op: Op| {
                    let ops = ops().into_iter().chain([op]).collect();
                    Dag::new(ops, dag.edges().chain([(from, n), (n, to)])).ok()
                };
                edited.extend(INNER_OPS.filter_map(joined));
            }
        }
        distinct(&dag, edited.into_iter().filter(|cell| self.index_of(cell).is_some()))
    }
}

/// The nodes on a path from input to output, with their edges; `None` if there is no such path.
fn pruned(dag: &Dag) -> Option<Dag> {
    let n = dag.n_nodes();
    let (mut from_input, mut to_output) = (vec![false; n], vec![false; n]);
    // Canonical, hence numbered along the edges.
    for node in 0..n {
        from_input[node] = dag.op(node) == INPUT || dag.predecessors(node).any(|before| from_input[before]);
    }
    for node in (0..n).rev() {
        to_output[node] = dag.op(node) == OUTPUT || dag.successors(node).any(|after| to_output[after]);
    }
    let kept: Vec<usize> = (0..n).filter(|&node| from_input[node] && to_output[node]).collect();
    let place = |node: usize| kept.iter().position(|&other| other == node);
    let edges: Vec<_> = dag.edges().filter_map(|(from, to)| place(from).zip(place(to))).collect();
    Dag::new(kept.iter().map(|&node| dag.op(node)).collect(), edges).ok()
}
