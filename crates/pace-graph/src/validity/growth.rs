//! [`Growth`]: which operation and which in-edges may come next, so that a valid graph can still follow.

use super::Validity;
use super::any::Any;
use super::chain::Chain;
use super::darts_cell::DartsCell;
use super::draft::Draft;
use super::each_op_once::EachOpOnce;
use super::edge_rule::EdgeRule;
use super::input_to_output::InputToOutput;
use super::tree::Tree;
use crate::dag::Op;
use crate::spec::DagSpec;

/// The rule of a spec as a function of the graph so far. Each step is local, and none leads to a dead end:
///
/// | validity | operations | in-edges of a new node |
/// |---|---|---|
/// | any | no second input | any |
/// | chain | no second input | the node before, and any others; of the output, no others |
/// | each operation once | unused ones, the output last | any |
/// | input to output | no second input | at least one; of the output, all loose ends and any others |
/// | DARTS cell | inputs, then operations, sums of two unused operations, and the output after four sums | one state; two unused operations; the sums |
/// | tree | no second input | exactly one |
///
/// A node without successors is "loose". A bound M on the edges is kept by never letting edges and loose ends together exceed
/// it, since each loose end will cost an edge at the latest at the output: a node with predecessors S adds 1 + |S not loose|
/// to that total.
///
/// ```
/// use pace_graph::{DagSpec, Draft, Growth};
/// let spec = DagSpec::na().with_start_symbol();
/// let (growth, mut draft) = (Growth::new(&spec), Draft::new(&spec));
/// let input = spec.op("input").unwrap();
/// assert!((0..spec.n_ops() as u16).all(|op| growth.allows(&draft, op) == (op == input)));
/// draft.push(input, &[]);
/// let next = growth.next(&draft, spec.op("output").unwrap());
/// assert!(next.last);
/// ```
#[derive(Debug)]
pub struct Growth {
    rule: Box<dyn Next>,
    start: Option<Op>,
    input: Option<Op>,
    output: Option<Op>,
    /// Without the start symbol.
    pub(super) n_ops: usize,
    /// Real nodes.
    pub(super) max_nodes: usize,
    /// Edges between them.
    pub(super) max_edges: usize,
}

/// What the next node is, once an operation is chosen for it.
#[derive(Clone, Debug)]
pub struct NextNode {
    /// The in-edges it may have.
    pub edges: EdgeRule,
    /// Whether the graph ends with it.
    pub last: bool,
}

/// One rule's say about what comes next.
pub(super) trait Next: std::fmt::Debug + Send + Sync {
    /// Nodes and edges of the smallest valid graph.
    fn smallest(&self, growth: &Growth) -> (usize, usize);

    /// How many nodes the graph can have at most, given its edges so far.
    fn largest(&self, growth: &Growth, _draft: &Draft) -> usize {
        growth.max_nodes
    }

    /// Whether the next node may have the operation, which is not the start symbol: no second input, and the output if no node
    /// can follow.
    fn allows(&self, growth: &Growth, draft: &Draft, op: Op) -> bool {
        let must_end = growth.output.is_some() && draft.n_nodes() + 1 >= self.largest(growth, draft);
        Some(op) != growth.input && (!must_end || growth.is_output(op))
    }

    /// The in-edges of a node other than the output.
    fn edges(&self, growth: &Growth, draft: &Draft, op: Op) -> EdgeRule;

    /// The in-edges of the output.
    fn edges_of_output(&self, growth: &Growth, draft: &Draft) -> EdgeRule;
}

impl Growth {
    /// The rule of a spec, with or without start symbol.
    ///
    /// # Panics
    /// If the spec has no room for a node, lacks an operation that its rule needs, or nothing can satisfy it.
    pub fn new(spec: &DagSpec) -> Growth {
        let ends = || (named(spec, spec.input, "input"), named(spec, spec.output, "output"));
        let rule: Box<dyn Next> = match spec.validity {
            Validity::Any => Box::new(Any),
            Validity::Chain => {
                ends();
                Box::new(Chain)
            }
            Validity::EachOpOnce => Box::new(EachOpOnce),
            Validity::InputToOutput => {
                ends();
                Box::new(InputToOutput)
            }
            Validity::DartsCell => Box::new(DartsCell::new(spec)),
            Validity::Tree => Box::new(Tree),
        };
        // The start symbol is no operation, takes one node, and one edge of the limit was added for it.
        let starts = usize::from(spec.start.is_some());
        assert!(spec.max_nodes > starts, "the spec '{}' has no room for a node", spec.name);
        let growth = Growth {
            rule,
            start: spec.start,
            input: spec.input,
            output: spec.output,
            n_ops: spec.n_ops() - starts,
            max_nodes: spec.max_nodes - starts,
            max_edges: spec.max_edges.map_or(usize::MAX, |edges| edges.saturating_sub(starts)),
        };
        let (min_nodes, min_edges) = growth.rule.smallest(&growth);
        assert!(
            growth.max_nodes >= min_nodes && growth.max_edges >= min_edges,
            "no graph of '{}' can be valid: it takes {min_nodes} nodes and {min_edges} edges, and the limits are {} and {}",
            spec.name,
            growth.max_nodes,
            spec.max_edges.map_or("none".to_owned(), |_| growth.max_edges.to_string())
        );
        growth
    }

    /// Whether the next node may have operation `op`.
    pub fn allows(&self, draft: &Draft, op: Op) -> bool {
        match self.input {
            Some(input) if draft.n_nodes() == 0 => op == input,
            _ => Some(op) != self.start && self.rule.allows(self, draft, op),
        }
    }

    /// The next node, once an operation is chosen for it.
    pub fn next(&self, draft: &Draft, op: Op) -> NextNode {
        let is_output = self.is_output(op);
        let edges = match is_output {
            true => self.rule.edges_of_output(self, draft),
            false => self.rule.edges(self, draft, op),
        };
        NextNode { edges, last: is_output || draft.n_nodes() + 1 >= self.rule.largest(self, draft) }
    }

    /// How many of input and output the spec names.
    pub(super) fn n_ends(&self) -> usize {
        usize::from(self.input.is_some()) + usize::from(self.output.is_some())
    }

    pub(super) fn is_output(&self, op: Op) -> bool {
        Some(op) == self.output
    }

    /// How much edges and loose ends together may still grow; `None` before there are any.
    pub(super) fn spare(&self, draft: &Draft) -> Option<usize> {
        (draft.n_nodes() > 0).then(|| self.max_edges.saturating_sub(draft.n_edges() + draft.n_loose()))
    }

    /// What is left for edges from nodes that have successors, after the loose end that the new node itself will be.
    pub(super) fn spare_after_itself(&self, draft: &Draft) -> usize {
        self.spare(draft).map_or(0, |spare| spare.saturating_sub(1))
    }

    /// The largest size if every node costs an edge: another node costs at least 1, the output nothing.
    pub(super) fn largest_with_spare(&self, draft: &Draft) -> usize {
        match self.spare(draft) {
            Some(0) => draft.n_nodes() + 1,
            _ => self.max_nodes,
        }
    }
}

/// An operation that a rule needs.
///
/// # Panics
/// If the spec does not name it.
pub(super) fn named(spec: &DagSpec, op: Option<Op>, name: &str) -> Op {
    op.unwrap_or_else(|| panic!("the rule of '{}' needs the operation '{name}', which it does not name", spec.name))
}
