//! Which graphs a dataset allows: the validity rules of NA, BN and the NAS spaces.

use serde::{Deserialize, Serialize};

use crate::dag::{Dag, Op};
use crate::error::Error;
use crate::spec::DagSpec;
use crate::structure::depths;

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
            Validity::Chain => view.check_chain(),
            Validity::EachOpOnce => view.check_each_op_once(),
            Validity::InputToOutput => view.check_input_to_output(),
            Validity::DartsCell => view.check_darts_cell(),
            Validity::Tree => view.check_tree(),
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

    /// Input and output node; every other node has predecessors and successors.
    fn check_ends(&self) -> Result<(usize, usize), Error> {
        let (input, output) = (self.role(self.spec.input, "input")?, self.role(self.spec.output, "output")?);
        let (input, output) = (self.only(input)?, self.only(output)?);
        self.check(self.in_degree(input) == 0, || format!("input node {input} has predecessors; remove those edges"))?;
        self.check(self.out_degree(output) == 0, || {
            format!("output node {output} has successors; remove those edges")
        })?;
        for node in self.nodes() {
            let missing = match node {
                _ if node != input && self.in_degree(node) == 0 => "predecessor",
                _ if node != output && self.out_degree(node) == 0 => "successor",
                _ => continue,
            };
            return Err(Error::Disconnected { node, missing, spec: self.spec.name.clone() });
        }
        Ok((input, output))
    }

    fn check_input_to_output(&self) -> Result<(), Error> {
        // With the only source an input and the only sink an output, every node lies on a path between the two.
        self.check_ends().map(drop)
    }

    fn check_chain(&self) -> Result<(), Error> {
        let (_, output) = self.check_ends()?;
        let longest = depths(self.dag).into_iter().max().unwrap_or(0);
        // A path through all nodes exists iff the longest path is as long as the graph is large.
        self.check(longest + 1 == self.dag.n_nodes(), || {
            "it wants a path through all nodes; connect each layer to the one before it".to_owned()
        })?;
        self.check(self.in_degree(output) == 1, || {
            format!("output node {output} wants exactly one predecessor and has {}", self.in_degree(output))
        })
    }

    fn check_each_op_once(&self) -> Result<(), Error> {
        let real_ops = (0..self.spec.n_ops()).map(|op| op as Op).filter(|&op| Some(op) != self.spec.start);
        real_ops.map(|op| self.only(op)).collect::<Result<Vec<_>, _>>().map(drop)
    }

    fn check_tree(&self) -> Result<(), Error> {
        let roots = self.nodes().filter(|&node| self.in_degree(node) == 0).count();
        self.check(roots == 1, || format!("it wants exactly one root and has {roots}"))?;
        match self.nodes().find(|&node| self.in_degree(node) > 1) {
            Some(node) => self.spec.broken(format!("node {node} has {} parents; keep one", self.in_degree(node))),
            None => Ok(()),
        }
    }

    fn check_darts_cell(&self) -> Result<(), Error> {
        let op = |name: &str| self.role(self.spec.op(name), name);
        let (sum, output) = (op("sum")?, self.only(op("output")?)?);
        let inputs = [self.only(op("c_k-2")?)?, self.only(op("c_k-1")?)?];
        self.check(self.n_nodes() == 15, || format!("it wants 15 nodes and has {}", self.n_nodes()))?;
        for node in self.nodes() {
            let predecessors = || self.dag.predecessors(node).filter(|&source| Some(source) != self.start);
            let sources_ok = if inputs.contains(&node) {
                self.in_degree(node) == 0
            } else if node == output {
                self.in_degree(node) == 4 && predecessors().all(|source| self.dag.op(source) == sum)
            } else if self.dag.op(node) == sum {
                self.in_degree(node) == 2
                    && predecessors().all(|source| self.is_operation(source, &inputs, output, sum))
            } else {
                let from_state = |source: usize| inputs.contains(&source) || self.dag.op(source) == sum;
                self.in_degree(node) == 1 && self.out_degree(node) == 1 && predecessors().all(from_state)
            };
            self.check(sources_ok, || {
                format!("node {node} breaks the cell: an operation reads one state and feeds one sum, a sum adds two operations, the output joins the four sums")
            })?;
        }
        Ok(())
    }

    fn is_operation(&self, node: usize, inputs: &[usize; 2], output: usize, sum: Op) -> bool {
        !inputs.contains(&node) && node != output && self.dag.op(node) != sum
    }
}
