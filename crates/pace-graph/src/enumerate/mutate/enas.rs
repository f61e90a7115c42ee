//! Steps in the ENAS space: another operation, or one skip more or less.

use super::{Mutate, distinct, with_op};
use crate::canon::canonical;
use crate::dag::{Dag, Op};
use crate::enumerate::{Enas, Sampler};

/// ENAS operations are numbered from here.
const FIRST_OP: Op = 2;
const N_LAYER_OPS: Op = 6;

impl Mutate for Enas {
    /// `5 n + n (n - 1) / 2` for n layers: 45 in NA. Symmetric.
    fn neighbours(&self, dag: &Dag) -> Vec<Dag> {
        assert!(dag.n_nodes() == self.n_layers + 2 && self.spec().is_valid(dag), "{dag} is no chain of {self:?}");
        // The only topological order: input, layers, output.
        let dag = canonical(dag);
        let mut edited = Vec::new();
        for layer in 1..=self.n_layers {
            let others = (FIRST_OP..FIRST_OP + N_LAYER_OPS).filter(|&op| op != dag.op(layer));
            edited.extend(others.map(|op| with_op(&dag, layer, op)));
            edited.extend((0..layer - 1).map(|from| flip(&dag, (from, layer))));
        }
        distinct(&dag, edited)
    }
}

/// Adds an edge or takes it away.
fn flip(dag: &Dag, edge: (usize, usize)) -> Dag {
    let mut edges: Vec<(usize, usize)> = dag.edges().filter(|&other| other != edge).collect();
    if edges.len() == dag.n_edges() {
        edges.push(edge);
    }
    Dag::new(dag.ops().collect(), edges).expect("skips go up")
}
