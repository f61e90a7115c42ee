//! [`Validity::DartsCell`](super::Validity::DartsCell): NAS-Bench-301.

use super::View;
use super::draft::Draft;
use super::edge_rule::{EdgeRule, Pick};
use super::growth::{Growth, Next, named};
use crate::dag::Op;
use crate::error::Error;
use crate::spec::DagSpec;

/// Nodes by kind, besides the output.
const INPUTS: usize = 2;
const OPERATIONS: usize = 8;
const SUMS: usize = 4;
const NODES: usize = INPUTS + OPERATIONS + SUMS + 1;
const EDGES: usize = OPERATIONS + 2 * SUMS + SUMS;

pub(super) fn check(view: &View<'_>) -> Result<(), Error> {
    let op = |name: &str| view.role(view.spec.op(name), name);
    let (sum, output) = (op("sum")?, view.only(op("output")?)?);
    let inputs = [view.only(op("c_k-2")?)?, view.only(op("c_k-1")?)?];
    view.check(view.n_nodes() == NODES, || format!("it wants {NODES} nodes and has {}", view.n_nodes()))?;
    let is_operation = |node: usize| !inputs.contains(&node) && node != output && view.dag.op(node) != sum;
    for node in view.nodes() {
        let predecessors = || view.dag.predecessors(node).filter(|&source| Some(source) != view.start);
        let sources_ok = if inputs.contains(&node) {
            view.in_degree(node) == 0
        } else if node == output {
            view.in_degree(node) == SUMS && predecessors().all(|source| view.dag.op(source) == sum)
        } else if view.dag.op(node) == sum {
            view.in_degree(node) == 2 && predecessors().all(is_operation)
        } else {
            let from_state = |source: usize| inputs.contains(&source) || view.dag.op(source) == sum;
            view.in_degree(node) == 1 && view.out_degree(node) == 1 && predecessors().all(from_state)
        };
        view.check(sources_ok, || {
            format!("node {node} breaks the cell: an operation reads one state and feeds one sum, a sum adds two operations, the output joins the four sums")
        })?;
    }
    Ok(())
}

/// Operations: inputs, then operations, sums of two unused operations, and the output after four sums. In-edges: one state;
/// two unused operations; the sums.
#[derive(Debug)]
pub(super) struct DartsCell {
    inputs: [Op; 2],
    sum: Op,
    output: Op,
}

impl DartsCell {
    /// # Panics
    /// If the spec lacks an operation of the cell.
    pub(super) fn new(spec: &DagSpec) -> DartsCell {
        let op = |name: &str| named(spec, spec.op(name), name);
        DartsCell { inputs: [op("c_k-2"), op("c_k-1")], sum: op("sum"), output: op("output") }
    }
}

impl Next for DartsCell {
    fn smallest(&self, _growth: &Growth) -> (usize, usize) {
        (NODES, EDGES)
    }

    fn largest(&self, _growth: &Growth, _draft: &Draft) -> usize {
        NODES
    }

    fn allows(&self, _growth: &Growth, draft: &Draft, op: Op) -> bool {
        if draft.n_nodes() < INPUTS {
            return self.inputs.contains(&op) && draft.count(op) == 0;
        }
        let sums = draft.count(self.sum);
        let operations = draft.n_nodes().saturating_sub(INPUTS + sums);
        if op == self.output {
            sums == SUMS
        } else if op == self.sum {
            // Eight operations are four pairs, so what is left unpaired always suffices.
            sums < SUMS && operations >= 2 * (sums + 1)
        } else {
            !self.inputs.contains(&op) && operations < OPERATIONS
        }
    }

    fn edges(&self, _growth: &Growth, draft: &Draft, op: Op) -> EdgeRule {
        let n = draft.n_nodes();
        let is_sum = |node: usize| draft.ops()[node + 1] == self.sum;
        if n < INPUTS {
            EdgeRule::any(vec![Pick::Never; n])
        } else if op == self.output {
            EdgeRule::any((0..n).map(|node| if is_sum(node) { Pick::Must } else { Pick::Never }).collect())
        } else if op == self.sum {
            EdgeRule::exactly(2, n, |node| node >= INPUTS && !is_sum(node) && draft.is_loose(node + 1))
        } else {
            EdgeRule::exactly(1, n, |node| node < INPUTS || is_sum(node))
        }
    }

    fn edges_of_output(&self, growth: &Growth, draft: &Draft) -> EdgeRule {
        self.edges(growth, draft, self.output)
    }
}
