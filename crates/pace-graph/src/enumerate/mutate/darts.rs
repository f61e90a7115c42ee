//! Steps in the DARTS space: another operation, or another state to read.

use super::{Mutate, distinct, with_op};
use crate::canon::canonical;
use crate::dag::{Dag, Op};
use crate::enumerate::{Darts, Sampler};

const FIRST_OP: Op = 2;
const N_CELL_OPS: Op = 7;
const SUM: Op = 9;

impl Mutate for Darts {
    /// An operation may read any state that does not depend on it. The numbering of intermediate states plays no part, so
    /// isomorphic cells have the same neighbours. The two operations of a sum keep reading different states. Symmetric.
    fn neighbours(&self, dag: &Dag) -> Vec<Dag> {
        assert!(self.spec().is_valid(dag), "{dag} is no DARTS cell");
        let dag = canonical(dag);
        let is_operation = |node: &usize| (FIRST_OP..FIRST_OP + N_CELL_OPS).contains(&dag.op(*node));
        let states: Vec<usize> =
            (0..dag.n_nodes()).filter(|&node| dag.op(node) < FIRST_OP || dag.op(node) == SUM).collect();
        let mut edited = Vec::new();
        for node in (0..dag.n_nodes()).filter(is_operation) {
            let others = (FIRST_OP..FIRST_OP + N_CELL_OPS).filter(|&op| op != dag.op(node));
            edited.extend(others.map(|op| with_op(&dag, node, op)));
            let sum = dag.successors(node).next().expect("an operation feeds a sum");
            let taken: Vec<usize> = dag.predecessors(sum).flat_map(|operation| dag.predecessors(operation)).collect();
            // A state that depends on the sum would close a cycle, which `Dag::new` refuses.
            let free = states.iter().filter(|state| !taken.contains(state));
            edited.extend(free.filter_map(|&state| read_from(&dag, node, state)));
        }
        distinct(&dag, edited)
    }
}

/// The cell in which operation `node` reads `state`; `None` if that closes a cycle.
fn read_from(dag: &Dag, node: usize, state: usize) -> Option<Dag> {
    let edges = dag.edges().map(|(from, to)| if to == node { (state, to) } else { (from, to) });
    Dag::new(dag.ops().collect(), edges).ok()
}
