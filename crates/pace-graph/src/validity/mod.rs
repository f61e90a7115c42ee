//! Which graphs a dataset allows: the validity rules of NA, BN and the NAS spaces.
//!
//! Each rule is a file with two sides: the check of a whole graph, and what may come next while a graph grows node by node
//! ([`Growth`]).

mod any;
mod chain;
mod darts_cell;
mod draft;
mod each_op_once;
mod edge_rule;
mod growth;
mod input_to_output;
mod tree;

use serde::{Deserialize, Serialize};

use crate::dag::{Dag, Op};
use crate::error::Error;
use crate::spec::DagSpec;

pub use draft::Draft;
pub use edge_rule::{EdgeProgress, EdgeRule, Pick};
pub use growth::{Growth, NextNode};

/// The rule of a [`DagSpec`], beyond its dictionary and limits. Every rule is invariant under renumbering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Validity {
    /// Any DAG.
    Any,
    /// NA: one input, one output of in-degree 1, and a path through all nodes (so the topological order is unique).
    /// The reference code checks the path in stored order, which is the only topological order there is.
    Chain,
    /// BN: every operation of the dictionary exactly once. Connectivity is not asked for, as in the reference code.
    EachOpOnce,
    /// NAS-Bench-101: one input, one output, every node on a path between them.
    InputToOutput,
    /// DARTS: 15 nodes; 8 operations of one input each, 4 sums of two operations, one output of the 4 sums.
    DartsCell,
    /// Exactly one root, and one parent for every other node.
    Tree,
}

impl DagSpec {
    /// Checks a graph against dictionary, limits and rule; the error names the node and the remedy.
    pub fn validate(&self, dag: &Dag) -> Result<(), Error> {
        for (node, op) in dag.ops().enumerate() {
            if usize::from(op) >= self.n_ops() {
                return Err(self.unknown_op(node, op.to_string()));
            }
        }
        if dag.n_nodes() > self.max_nodes {
            let spec = self.name.clone();
            return Err(Error::TooManyNodes { n_nodes: dag.n_nodes(), max_nodes: self.max_nodes, spec });
        }
        if let Some(max) = self.max_edges.filter(|&max| dag.n_edges() > max) {
            return self.broken(format!("{} edges where at most {max} are allowed; remove some", dag.n_edges()));
        }
        let view = View::new(self, dag)?;
        match self.validity {
            Validity::Any => Ok(()),
            Validity::Chain => chain::check(&view),
            Validity::EachOpOnce => each_op_once::check(&view),
            Validity::InputToOutput => input_to_output::check(&view),
            Validity::DartsCell => darts_cell::check(&view),
            Validity::Tree => tree::check(&view),
        }
    }

    /// Whether [`DagSpec::validate`] accepts the graph.
    pub fn is_valid(&self, dag: &Dag) -> bool {
        self.validate(dag).is_ok()
    }

    fn broken(&self, rule: String) -> Result<(), Error> {
        Err(Error::Rule { spec: self.name.clone(), rule })
    }
}

/// A graph under validation, its start symbol (if the spec has one) out of sight.
struct View<'a> {
    spec: &'a DagSpec,
    dag: &'a Dag,
    start: Option<usize>,
}

impl<'a> View<'a> {
    fn new(spec: &'a DagSpec, dag: &'a Dag) -> Result<View<'a>, Error> {
        let Some(op) = spec.start else { return Ok(View { spec, dag, start: None }) };
        let mut starts = (0..dag.n_nodes()).filter(|&node| dag.op(node) == op);
        let start = starts.next();
        let alone = starts.next().is_none() && start.is_some_and(|start| dag.sources().eq([start]));
        if !alone {
            spec.broken("it wants exactly one start symbol, and nothing else without predecessors".to_owned())?;
        }
        Ok(View { spec, dag, start })
    }

    fn nodes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.dag.n_nodes()).filter(|&node| Some(node) != self.start)
    }

    fn n_nodes(&self) -> usize {
        self.dag.n_nodes() - usize::from(self.start.is_some())
    }

    fn in_degree(&self, node: usize) -> usize {
        self.dag.predecessors(node).filter(|&source| Some(source) != self.start).count()
    }

    fn out_degree(&self, node: usize) -> usize {
        self.dag.successors(node).count()
    }

    fn check(&self, holds: bool, rule: impl FnOnce() -> String) -> Result<(), Error> {
        if holds { Ok(()) } else { self.spec.broken(rule()) }
    }

    /// The one node with operation `op`.
    fn only(&self, op: Op) -> Result<usize, Error> {
        let found: Vec<usize> = self.nodes().filter(|&node| self.dag.op(node) == op).collect();
        self.check(found.len() == 1, || {
            format!("it wants exactly one '{}' node and has {}", self.spec.op_name(op), found.len())
        })?;
        Ok(found[0])
    }

    /// An operation that the rule needs and that a spec from a file may lack.
    fn role(&self, op: Option<Op>, name: &str) -> Result<Op, Error> {
        op.ok_or_else(|| Error::Rule {
            spec: self.spec.name.clone(),
            rule: format!("its rule needs the operation '{name}', which the spec does not name; complete the spec"),
        })
    }
}
