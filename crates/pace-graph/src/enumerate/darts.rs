//! [`Darts`]: the normal cells of NAS-Bench-301.

use rand::{Rng, RngExt};

use super::Sampler;
use crate::dag::{Dag, Op};
use crate::spec::DagSpec;

/// Cells as the authors sample them: each of 4 intermediate states reads two distinct earlier states, chosen uniformly
/// without replacement, through two operations chosen uniformly from 7. The reduction cell is a copy.
///
/// | node | what | reads |
/// |---|---|---|
/// | 0, 1 | the outputs of the two cells before, `c_k-2` and `c_k-1` | |
/// | 2, 3 | operations of intermediate 0 | states 0, 1 |
/// | 4 | their sum | 2, 3 |
/// | 5, 6, 7 | operations and sum of intermediate 1 | states 0, 1, 4 |
/// | 8, 9, 10 | of intermediate 2 | states 0, 1, 4, 7 |
/// | 11, 12, 13 | of intermediate 3 | states 0, 1, 4, 7, 10 |
/// | 14 | output | 4, 7, 10, 13 |
///
/// Uniform over these choices, not over isomorphism classes. The authors' code swaps the two nodes of a pair; the choices
/// are exchangeable, so that changes nothing here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Darts;

impl Sampler for Darts {
    fn spec(&self) -> DagSpec {
        DagSpec::darts()
    }

    fn sample(&self, rng: &mut dyn Rng) -> Dag {
        const STATES: [usize; 6] = [0, 1, 4, 7, 10, 13];
        const FIRST_OP: Op = 2;
        const N_CELL_OPS: Op = 7;
        const SUM: Op = 9;
        const OUTPUT: Op = 10;
        let mut ops: Vec<Op> = vec![0, 1];
        let mut edges = Vec::with_capacity(20);
        for (intermediate, &sum) in STATES[2..].iter().enumerate() {
            let n_states = intermediate + 2;
            let first = rng.random_range(0..n_states);
            // Any state but the first: a random step, modulo the number of states.
            let second = (first + rng.random_range(1..n_states)) % n_states;
            for (operation, state) in [(sum - 2, first), (sum - 1, second)] {
                ops.push(FIRST_OP + rng.random_range(0..N_CELL_OPS));
                edges.extend([(STATES[state], operation), (operation, sum)]);
            }
            ops.push(SUM);
            edges.push((sum, 14));
        }
        ops.push(OUTPUT);
        Dag::new(ops, edges).expect("edges go up")
    }
}
