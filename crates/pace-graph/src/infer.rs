//! [`infer`]: the spec of graphs that nobody has described.

use std::collections::{BTreeSet, HashMap};

use crate::dag::{Dag, Op};
use crate::ends::AddedEnds;
use crate::error::Error;
use crate::spec::DagSpec;
use crate::validity::Validity;

/// A graph with operations by name, before there is a dictionary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Named {
    /// The operation of each node.
    pub ops: Vec<String>,
    /// Edges `(from, to)`, in any order.
    pub edges: Vec<(usize, usize)>,
    /// What is to be predicted, if it is known; finite.
    pub target: Option<f64>,
    /// The name of the graph in its source.
    pub id: Option<String>,
}

impl Named {
    /// The graph in the dictionary of a spec: operations are looked up by name, virtual ends are added, and the rule is checked.
    ///
    /// # Errors
    /// An operation that the spec does not know, edges that make no DAG, or a broken rule.
    pub fn dag(&self, spec: &DagSpec) -> Result<Dag, Error> {
        let added = [spec.added_input(), spec.added_output()];
        let op = |(node, name): (usize, &String)| {
            let op = spec.op(name).filter(|op| !added.contains(&Some(*op)));
            op.ok_or_else(|| spec.unknown_op(node, name.clone()))
        };
        let ops = self.ops.iter().enumerate().map(op).collect::<Result<Vec<Op>, Error>>()?;
        let dag = spec.add_ends(&Dag::new(ops, self.edges.iter().copied())?);
        spec.validate(&dag)?;
        Ok(dag)
    }

    /// A graph of a spec as the data had it: by name, without virtual ends.
    ///
    /// # Errors
    /// If the graph has nothing but virtual ends.
    pub fn of(spec: &DagSpec, dag: &Dag) -> Result<Named, Error> {
        let bare = spec.strip_ends(dag)?;
        let ops = bare.ops().map(|op| spec.op_name(op)).collect();
        Ok(Named { ops, edges: bare.edges().collect(), ..Named::default() })
    }
}

/// A spec, and in plain words what it was concluded from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inferred {
    /// The spec; every graph it was inferred from is valid.
    pub spec: DagSpec,
    /// One sentence per conclusion.
    pub remarks: Vec<String>,
}

/// Infers dictionary, limits, ends and rule from graphs. The order of the graphs and of their nodes plays no part.
///
/// - **Dictionary**: the names in alphabetical order, numbers by value.
/// - **Ends**: if every graph has one source, always of the same operation, which occurs nowhere else, that is the input; otherwise a
///   virtual input is added. The same for the output and sinks.
/// - **Rule**: the first of these that all graphs obey: every operation once; one path through all nodes; every node between input and
///   output.
///
/// ```
/// use pace_graph::{Named, infer};
/// let graph = |ops: &[&str], edges: &[(usize, usize)]| Named {
///     ops: ops.iter().map(|op| op.to_string()).collect(), edges: edges.to_vec(), ..Named::default()
/// };
/// let graphs = [graph(&["in", "relu", "add"], &[(0, 1), (0, 2)]), graph(&["in", "add"], &[(0, 1)])];
/// let inferred = infer("mine", &graphs)?;
/// assert_eq!(inferred.spec.ops, ["add", "in", "relu", "(output)"]);
/// assert_eq!(inferred.spec.input, inferred.spec.op("in"));
/// assert!(inferred.spec.added.output && !inferred.spec.added.input);
/// # Ok::<(), pace_graph::Error>(())
/// ```
///
/// # Errors
/// A graph that is no DAG, named by its row; no graphs; or more operations than a dictionary holds.
pub fn infer(name: &str, graphs: &[Named]) -> Result<Inferred, Error> {
    if graphs.is_empty() {
        return Err(Error::EmptyDataset { file: name.to_owned(), hint: String::new() });
    }
    let names: BTreeSet<&str> = graphs.iter().flat_map(|graph| &graph.ops).map(String::as_str).collect();
    let mut names: Vec<&str> = names.into_iter().collect();
    if let Some(mut numbers) =
        names.iter().map(|name| Some((name.parse::<u64>().ok()?, *name))).collect::<Option<Vec<_>>>()
    {
        numbers.sort_unstable();
        names = numbers.into_iter().map(|(_, name)| name).collect();
    }
    let plain = DagSpec::new(name, names, usize::MAX);
    plain.check()?;
    let bare = |(row, graph): (usize, &Named)| graph.dag(&plain).map_err(|error| error.at(name, row + 1));
    let dags: Vec<Dag> = graphs.iter().enumerate().map(bare).collect::<Result<_, Error>>()?;

    let mut remarks = vec![format!("{} operations: {}", plain.n_ops(), shortened(&plain.ops))];
    let mut spec = plain;
    let input = end(&dags, |dag| dag.sources().collect());
    let output = end(&dags, |dag| dag.sinks().collect());
    let mut place = |found: Option<Op>, word: &str, reason: &str| {
        let real = found.map(|op| (op, false));
        let (op, is_added) = real.unwrap_or_else(|| (push_op(&mut spec.ops, word), true));
        remarks.push(match is_added {
            true => format!("a virtual {word} is added to every graph: {reason}"),
            false => format!(
                "'{}' is the {word}: it is the only such end of every graph, and occurs nowhere else",
                spec.ops[usize::from(op)]
            ),
        });
        (Some(op), is_added)
    };
    // A graph of one node would have the same input and output.
    let (input, output) = if input == output { (None, None) } else { (input, output) };
    let (input, input_added) =
        place(input, "input", "some have several nodes without predecessors, or not always the same operation there");
    let (output, output_added) =
        place(output, "output", "some have several nodes without successors, or not always the same operation there");
    (spec.input, spec.output, spec.added) = (input, output, AddedEnds { input: input_added, output: output_added });
    let largest = dags.iter().map(Dag::n_nodes).max().unwrap_or(1);
    spec.max_nodes = largest + spec.added.count();
    remarks.push(format!("at most {largest} nodes, as in the largest graph; raise max_nodes to allow more"));
    spec.check()?;

    let whole: Vec<Dag> = dags.iter().map(|dag| spec.add_ends(dag)).collect();
    for (rule, text) in [
        (Validity::EachOpOnce, "every graph has every operation exactly once"),
        (Validity::Chain, "every graph has a path through all its nodes"),
        (Validity::InputToOutput, "every node lies on a path from input to output"),
    ] {
        spec.validity = rule;
        if whole.iter().all(|dag| spec.is_valid(dag)) {
            // Between virtual ends everything lies on a path.
            if rule != Validity::InputToOutput || spec.added.count() < 2 {
                remarks.push(format!("{text}; set validity to \"any\" if that is chance"));
            }
            return Ok(Inferred { spec, remarks });
        }
    }
    spec.validity = Validity::Any;
    Ok(Inferred { spec, remarks })
}

/// The operation of the one end of every graph, if that end is always alone, of one operation, and no other node has it.
fn end(dags: &[Dag], ends: impl Fn(&Dag) -> Vec<usize>) -> Option<Op> {
    let first = *ends(&dags[0]).first()?;
    let op = dags[0].op(first);
    let is_end = |dag: &Dag| {
        let found = ends(dag);
        found.len() == 1 && dag.op(found[0]) == op && dag.ops().filter(|&other| other == op).count() == 1
    };
    dags.iter().all(is_end).then_some(op)
}

/// Adds an operation with a name that no other has.
fn push_op(ops: &mut Vec<String>, word: &str) -> Op {
    let taken: HashMap<&str, ()> = ops.iter().map(|op| (op.as_str(), ())).collect();
    let mut name = format!("({word})");
    while taken.contains_key(name.as_str()) {
        name = format!("({name})");
    }
    ops.push(name);
    Op::try_from(ops.len() - 1).unwrap_or(Op::MAX)
}

fn shortened(words: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown = words.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if words.len() > SHOWN { format!("{shown}, ...") } else { shown }
}
