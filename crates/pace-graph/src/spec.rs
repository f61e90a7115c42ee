//! [`DagSpec`]: what the graphs of one dataset look like: dictionary, limits, roles and validity.

use serde::{Deserialize, Serialize};

use crate::dag::{Dag, Op};
use crate::ends::AddedEnds;
use crate::error::Error;
use crate::text::parse_dag;
use crate::validity::Validity;

/// The facts about a dataset that every model needs: operation dictionary, limits, virtual operations, validity rules.
///
/// Configurations hold choices; this holds facts. A model is initialised from both.
///
/// ```
/// let spec = pace_graph::DagSpec::nas101();
/// let cell = spec.parse("input conv3x3-bn-relu output : 0>1 1>2")?;
/// assert_eq!(cell.to_string(), "0 2 4 : 0>1 1>2");
/// assert_eq!(spec.format(&cell), "input conv3x3-bn-relu output : 0>1 1>2");
/// # Ok::<(), pace_graph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DagSpec {
    /// Short name used in messages and reports, e.g. `nas101`.
    pub name: String,
    /// The operation dictionary: `ops[o]` is the name of operation `o`.
    pub ops: Vec<String>,
    /// The paper's N: no graph has more nodes.
    pub max_nodes: usize,
    /// No graph has more edges; `None` if the dataset sets no limit.
    pub max_edges: Option<usize>,
    /// Operation of the input node, if graphs have exactly one.
    pub input: Option<Op>,
    /// Operation of the output node, if graphs have exactly one.
    pub output: Option<Op>,
    /// Operation of the decoder's start symbol, if graphs carry one (see [`DagSpec::with_start_symbol`]).
    pub start: Option<Op>,
    /// Which ends are no part of the data, see [`DagSpec::add_ends`].
    #[serde(default, skip_serializing_if = "is_none")]
    pub added: AddedEnds,
    /// Which graphs are valid.
    pub validity: Validity,
}

/// Specs without virtual ends are written as they were before there were any.
fn is_none(added: &AddedEnds) -> bool {
    added.count() == 0
}

impl DagSpec {
    /// A spec without roles or rules beyond the dictionary and the limit, for your own DAGs.
    pub fn new(name: &str, ops: impl IntoIterator<Item = impl Into<String>>, max_nodes: usize) -> DagSpec {
        DagSpec {
            name: name.to_owned(),
            ops: ops.into_iter().map(Into::into).collect(),
            max_nodes,
            max_edges: None,
            input: None,
            output: None,
            start: None,
            added: AddedEnds::default(),
            validity: Validity::Any,
        }
    }

    /// NA: ENAS macro architectures of 6 layers, with input and output nodes (8 nodes, operation = ENAS id + 2).
    pub fn na() -> DagSpec {
        DagSpec::enas("na", 6)
    }

    /// The ENAS macro space with any number of layers; [`DagSpec::na`] has 6.
    pub fn enas(name: &str, n_layers: usize) -> DagSpec {
        let ops = ["input", "output", "conv3x3", "sep_conv3x3", "conv5x5", "sep_conv5x5", "avg_pool3x3", "max_pool3x3"];
        DagSpec { input: Some(0), output: Some(1), validity: Validity::Chain, ..DagSpec::new(name, ops, n_layers + 2) }
    }

    /// BN: networks over the 8 variables of Asia, with virtual input and output nodes (operation = variable + 2).
    pub fn bn() -> DagSpec {
        let ops = ["input", "output", "A", "S", "T", "L", "B", "E", "X", "D"];
        DagSpec { input: Some(0), output: Some(1), validity: Validity::EachOpOnce, ..DagSpec::new("bn", ops, 10) }
    }

    /// NAS-Bench-101 cells: at most 7 nodes and 9 edges, every node on a path from input to output.
    pub fn nas101() -> DagSpec {
        let ops = ["input", "conv1x1-bn-relu", "conv3x3-bn-relu", "maxpool3x3", "output"];
        DagSpec {
            input: Some(0),
            output: Some(4),
            max_edges: Some(9),
            validity: Validity::InputToOutput,
            ..DagSpec::new("nas101", ops, 7)
        }
    }

    /// NAS-Bench-301: DARTS cells with operations on nodes, always 15 of them.
    pub fn darts() -> DagSpec {
        let ops = [
            "c_k-2",
            "c_k-1",
            "max_pool_3x3",
            "avg_pool_3x3",
            "skip_connect",
            "sep_conv_3x3",
            "sep_conv_5x5",
            "dil_conv_3x3",
            "dil_conv_5x5",
            "sum",
            "output",
        ];
        DagSpec { output: Some(10), validity: Validity::DartsCell, ..DagSpec::new("darts", ops, 15) }
    }

    /// Abstract syntax trees with the given node types, edges parent to child.
    pub fn ast(types: impl IntoIterator<Item = impl Into<String>>) -> DagSpec {
        DagSpec { validity: Validity::Tree, ..DagSpec::new("ast", types, usize::MAX) }
    }

    /// Errs if the spec contradicts itself, as one from a file may: the rules rely on their roles.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    pub fn check(&self) -> Result<(), Error> {
        let broken = |rule: String| Err(Error::Rule { spec: self.name.clone(), rule });
        let limit = usize::from(Op::MAX) + 1;
        if self.n_ops() > limit {
            return broken(format!("{} operations where a dictionary holds at most {limit}", self.n_ops()));
        }
        let roles = [self.input, self.output, self.start];
        if let Some(op) = roles.into_iter().flatten().find(|&op| usize::from(op) >= self.n_ops()) {
            return broken(format!("role operation {op} is not in the dictionary; correct the spec"));
        }
        if (self.added.input && self.input.is_none()) || (self.added.output && self.output.is_none()) {
            return broken("an end that is added has no operation; name it as input or output".to_owned());
        }
        match self.validity {
            Validity::Chain | Validity::InputToOutput if self.input.is_none() || self.output.is_none() => {
                broken("its validity rule needs an input and an output operation; name both".to_owned())
            }
            Validity::DartsCell if !self.ops.starts_with(&DagSpec::darts().ops) => {
                broken("its validity rule needs the DARTS dictionary; use that or validity \"any\"".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// How many operations the dictionary holds.
    pub fn n_ops(&self) -> usize {
        self.ops.len()
    }

    /// The operation called `name`.
    pub fn op(&self, name: &str) -> Option<Op> {
        self.ops.iter().position(|known| known == name).and_then(|index| Op::try_from(index).ok())
    }

    /// The name of operation `op`, or its number if the dictionary does not list it.
    pub fn op_name(&self, op: Op) -> String {
        self.ops.get(usize::from(op)).cloned().unwrap_or_else(|| op.to_string())
    }

    /// The spec of the same graphs with a start symbol in front (appendix D): one more operation, one more node.
    ///
    /// The authors' code gives the start symbol number 2 and moves the others up; here it is appended, so that the
    /// numbers of the real operations never change. Embedding rows are exchangeable, so the models are the same.
    pub fn with_start_symbol(&self) -> DagSpec {
        let mut spec = self.clone();
        if spec.start.is_none() {
            spec.start = Some(Op::try_from(spec.ops.len()).expect("a dictionary fits the operation type"));
            spec.ops.push("start".to_owned());
            spec.max_nodes = spec.max_nodes.saturating_add(1);
            spec.max_edges = spec.max_edges.map(|edges| edges.saturating_add(1));
        }
        spec
    }

    /// Puts this spec's start symbol in front of every source of `dag`.
    ///
    /// # Panics
    /// If the spec has no start symbol.
    pub fn add_start_symbol(&self, dag: &Dag) -> Dag {
        dag.with_virtual_input(self.start.expect("a spec made by with_start_symbol"))
    }

    /// Parses the text form with operations by name or by number, and validates the graph.
    pub fn parse(&self, text: &str) -> Result<Dag, Error> {
        let dag = parse_dag(text, |node, word| self.parse_op(node, word))?;
        self.validate(&dag)?;
        Ok(dag)
    }

    /// Writes the text form with operations by name.
    pub fn format(&self, dag: &Dag) -> String {
        let ops: Vec<String> = dag.ops().map(|op| self.op_name(op)).collect();
        let edges: String = dag.edges().map(|(from, to)| format!(" {from}>{to}")).collect();
        format!("{} :{edges}", ops.join(" "))
    }

    /// Reads the operation of `node` from a name or a number.
    pub fn parse_op(&self, node: usize, word: &str) -> Result<Op, Error> {
        let by_number = || word.parse::<Op>().ok().filter(|&op| usize::from(op) < self.n_ops());
        self.op(word).or_else(by_number).ok_or_else(|| self.unknown_op(node, word.to_owned()))
    }

    pub(crate) fn unknown_op(&self, node: usize, op: String) -> Error {
        const SHOWN: usize = 12;
        let mut known = self.ops.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
        if self.n_ops() > SHOWN {
            known.push_str(", ...");
        }
        Error::UnknownOp { node, op, spec: self.name.clone(), known }
    }
}
