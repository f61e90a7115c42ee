//! [`OrderedBn`] and [`UniformBn`]: Bayesian network structures over the 8 variables of Asia.

use rand::{Rng, RngExt};

use super::Sampler;
use super::uniform::UniformDags;
use crate::dag::{Dag, Op};
use crate::spec::DagSpec;

const N_VARIABLES: usize = 8;

/// The distribution the BN dataset was drawn from: each arc from an earlier to a later variable, independently.
///
/// The file holds the variables in the order A, S, T, L, B, E, X, D on every line, which is what bnlearn's
/// `random.graph(method = "ordered")` gives; its default probability is `2 / (n - 1)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrderedBn {
    /// Of each of the 28 arcs.
    pub arc_probability: f64,
}

impl Default for OrderedBn {
    /// bnlearn's 2/7.
    fn default() -> OrderedBn {
        OrderedBn { arc_probability: 2.0 / (N_VARIABLES as f64 - 1.0) }
    }
}

impl Sampler for OrderedBn {
    fn spec(&self) -> DagSpec {
        DagSpec::bn()
    }

    /// # Panics
    /// If the probability is outside `0..=1`.
    fn sample(&self, rng: &mut dyn Rng) -> Dag {
        let pairs = (1..N_VARIABLES).flat_map(|to| (0..to).map(move |from| (from, to)));
        network(pairs.filter(|_| rng.random_bool(self.arc_probability)).collect())
    }
}

/// Uniform over all 783,702,329,343 DAGs on the 8 variables, orders included ([`UniformDags`]).
#[derive(Clone, Debug)]
pub struct UniformBn {
    dags: UniformDags,
}

impl Default for UniformBn {
    fn default() -> UniformBn {
        UniformBn { dags: UniformDags::new(N_VARIABLES) }
    }
}

impl Sampler for UniformBn {
    fn spec(&self) -> DagSpec {
        DagSpec::bn()
    }

    /// Variable `i` is always node `i + 1`, so the numbering need not be topological.
    fn sample(&self, rng: &mut dyn Rng) -> Dag {
        network(self.dags.sample_arcs(rng))
    }
}

/// Arcs between variables as a graph of [`DagSpec::bn`]: input 0, variable `i` at node `i + 1`, output 9.
fn network(arcs: Vec<(usize, usize)>) -> Dag {
    let variables = (0..N_VARIABLES as Op).map(|variable| variable + 2).collect();
    Dag::new(variables, arcs).expect("a sampled network has no cycle").with_virtual_input(0).with_virtual_output(1)
}
