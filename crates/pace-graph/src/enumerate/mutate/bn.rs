//! Steps between Bayesian networks: one arc added, removed or turned around.

use super::{Mutate, distinct};
use crate::canon::canonical;
use crate::dag::{Dag, Op};
use crate::enumerate::{OrderedBn, UniformBn};
use crate::spec::DagSpec;

const INPUT: Op = 0;
const OUTPUT: Op = 1;

impl Mutate for UniformBn {
    /// At most 56, for 8 variables; symmetric.
    fn neighbours(&self, dag: &Dag) -> Vec<Dag> {
        network_neighbours(dag)
    }
}

impl Mutate for OrderedBn {
    /// The same as for [`UniformBn`]: a step may leave the order of variables that this sampler keeps.
    fn neighbours(&self, dag: &Dag) -> Vec<Dag> {
        network_neighbours(dag)
    }
}

fn network_neighbours(dag: &Dag) -> Vec<Dag> {
    let spec = DagSpec::bn();
    assert!(spec.is_valid(dag), "{dag} is no network over the variables of '{}'", spec.name);
    let dag = canonical(dag);
    let n_variables = spec.n_ops() - 2;
    let variable = |node: usize| usize::from(dag.op(node)).checked_sub(2);
    let arcs: Vec<(usize, usize)> = dag.edges().filter_map(|(from, to)| variable(from).zip(variable(to))).collect();
    let mut edited = Vec::new();
    for arc in (0..n_variables).flat_map(|from| (0..n_variables).map(move |to| (from, to))) {
        let others = || arcs.iter().copied().filter(move |&other| other != arc);
        if arcs.contains(&arc) {
            edited.push(network(others().collect()));
            edited.push(network(others().chain([(arc.1, arc.0)]).collect()));
        } else {
            edited.push(network(others().chain([arc]).collect()));
        }
    }
    // The ends are rebuilt, so compare with the graph that has them in place.
    distinct(&network(arcs).expect("arcs of a DAG"), edited.into_iter().flatten())
}

/// The network of these arcs between virtual ends; `None` if they close a cycle.
fn network(arcs: Vec<(usize, usize)>) -> Option<Dag> {
    let variables = (0..DagSpec::bn().n_ops() as Op - 2).map(|variable| variable + 2).collect();
    let inner = Dag::new(variables, arcs).ok()?;
    Some(inner.with_virtual_input(INPUT).with_virtual_output(OUTPUT))
}
