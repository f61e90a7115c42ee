//! [`Constraint`]: which operation and which in-edges may come next, so that a valid graph can still follow.

use pace_graph::{DagSpec, Op, Validity};

use super::choice::{EdgeRule, Pick};
use super::draft::Draft;
use super::options::Mode;

/// Nodes of a DARTS cell by kind: two inputs, then so many operations and sums, and the output.
const CELL: Cell = Cell { inputs: 2, operations: 8, sums: 4 };

/// The rules of one mode and spec, as functions of the graph so far.
///
/// Each is local, and none leads to a dead end:
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
/// with "loose" for nodes without successors. A bound M on the edges is kept by never letting edges and loose ends together
/// exceed it, since each loose end will cost an edge at the latest at the output: a node with predecessors S adds
/// 1 + |S not loose| to that total.
#[derive(Clone, Debug)]
pub(super) struct Constraint {
    rule: Rule,
    start: Op,
    input: Option<Op>,
    output: Option<Op>,
    n_ops: usize,
    /// Real nodes.
    max_nodes: usize,
    max_edges: usize,
}

/// What the next node is, given the operation drawn for it.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The operation it gets.
    pub op: Op,
    /// The in-edges it may have.
    pub edges: EdgeRule,
    /// Whether the graph ends with it.
    pub last: bool,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    Free,
    Published,
    Any,
    Chain,
    EachOpOnce,
    InputToOutput,
    DartsCell(CellOps),
    Tree,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    inputs: usize,
    operations: usize,
    sums: usize,
}

impl Cell {
    const fn n_nodes(&self) -> usize {
        self.inputs + self.operations + self.sums + 1
    }

    const fn n_edges(&self) -> usize {
        self.operations + 2 * self.sums + self.sums
    }
}

#[derive(Clone, Copy, Debug)]
struct CellOps {
    inputs: [Op; 2],
    sum: Op,
    output: Op,
}

impl Constraint {
    /// The rules of `mode` for a spec with start symbol.
    ///
    /// # Panics
    /// If the spec has no start symbol or no room for a node, or, in [`Mode::Constrained`], nothing can satisfy it.
    pub fn new(spec: &DagSpec, mode: Mode) -> Constraint {
        let start = spec.start.expect("decoding starts from a start symbol, and the spec has none");
        assert!(spec.max_nodes > 1, "the spec '{}' has no room for a node", spec.name);
        let constraint = Constraint {
            rule: Rule::new(spec, mode),
            start,
            input: spec.input,
            output: spec.output,
            n_ops: spec.n_ops(),
            max_nodes: spec.max_nodes - 1,
            // One edge of the limit was added for the start symbol, whose edges do not count here.
            max_edges: spec.max_edges.map_or(usize::MAX, |edges| edges.saturating_sub(1)),
        };
        let (min_nodes, min_edges) = constraint.smallest();
        assert!(
            constraint.max_nodes >= min_nodes && constraint.max_edges >= min_edges,
            "no graph of '{}' can be valid: it takes {min_nodes} nodes and {min_edges} edges, and the limits are {} and {}",
            spec.name,
            constraint.max_nodes,
            spec.max_edges.map_or("none".to_owned(), |_| constraint.max_edges.to_string())
        );
        constraint
    }

    /// Nodes and edges of the smallest valid graph.
    fn smallest(&self) -> (usize, usize) {
        let ends = usize::from(self.input.is_some()) + usize::from(self.output.is_some());
        match self.rule {
            Rule::Free | Rule::Published => (1, 0),
            Rule::Any => (ends.max(1), 0),
            Rule::Chain | Rule::InputToOutput => (2, 1),
            Rule::EachOpOnce => (self.n_ops - 1, 0),
            Rule::DartsCell(_) => (CELL.n_nodes(), CELL.n_edges()),
            Rule::Tree => (ends.max(1), ends.max(1) - 1),
        }
    }

    /// Whether the next node may have operation `op`.
    pub fn allows(&self, draft: &Draft, op: Op) -> bool {
        let n = draft.n_nodes();
        if let (0, Some(input)) = (n, self.input) {
            return op == input;
        }
        if op == self.start {
            return matches!(self.rule, Rule::Published);
        }
        let must_end = self.output.is_some() && n + 1 >= self.largest(draft);
        match self.rule {
            Rule::Published => true,
            Rule::Free => !must_end || self.is_output(op),
            Rule::EachOpOnce => {
                let rest = self.n_ops - 1 - n; // the start symbol is no operation
                draft.count(op) == 0 && (!self.is_output(op) || rest == 1)
            }
            Rule::DartsCell(ops) => ops.allows(draft, op),
            Rule::Any | Rule::Chain | Rule::InputToOutput | Rule::Tree => {
                Some(op) != self.input && (!must_end || self.is_output(op))
            }
        }
    }

    /// The next node, once an operation is drawn for it.
    pub fn step(&self, draft: &Draft, drawn: Op) -> Step {
        let last = draft.n_nodes() + 1 >= self.largest(draft);
        let op = match (self.rule, self.output) {
            (Rule::Published, Some(output)) if last => output,
            _ => drawn,
        };
        let edges = if self.is_output(drawn) { self.edges_of_output(draft) } else { self.edges(draft, drawn) };
        Step { op, edges, last: last || self.is_output(op) }
    }

    /// How many nodes the graph can have at most, given its edges so far.
    fn largest(&self, draft: &Draft) -> usize {
        let n = draft.n_nodes();
        match self.rule {
            Rule::Free | Rule::Published | Rule::Any => self.max_nodes,
            Rule::EachOpOnce => self.n_ops - 1,
            Rule::DartsCell(_) => CELL.n_nodes(),
            Rule::Tree => self.max_nodes.min(self.max_edges.saturating_add(1)),
            Rule::Chain | Rule::InputToOutput => match self.spare(draft) {
                // A node more would cost at least 1, the output costs nothing.
                Some(0) => n + 1,
                _ => self.max_nodes,
            },
        }
    }

    /// How much edges and loose ends together may still grow; none before there are any.
    fn spare(&self, draft: &Draft) -> Option<usize> {
        (draft.n_nodes() > 0).then(|| self.max_edges.saturating_sub(draft.n_edges() + draft.n_loose()))
    }

    fn is_output(&self, op: Op) -> bool {
        Some(op) == self.output
    }

    /// The in-edges of a node other than the output.
    fn edges(&self, draft: &Draft, op: Op) -> EdgeRule {
        let n = draft.n_nodes();
        // What is left for edges from nodes that have successors, after the loose end that the node itself will be.
        let spare = self.spare(draft).map_or(0, |spare| spare.saturating_sub(1));
        match self.rule {
            Rule::Free | Rule::Published => EdgeRule::any(vec![Pick::May; n]),
            Rule::Any | Rule::EachOpOnce => {
                let max_costly = self.max_edges - draft.n_edges();
                EdgeRule { max_costly, ..EdgeRule::any(vec![Pick::Costly; n]) }
            }
            Rule::Chain => {
                let picks = (0..n).map(|node| if node + 1 == n { Pick::Must } else { Pick::Costly }).collect();
                EdgeRule { max_costly: spare, ..EdgeRule::any(picks) }
            }
            Rule::InputToOutput => {
                let picks = (0..n).map(|node| if draft.is_loose(node + 1) { Pick::May } else { Pick::Costly });
                EdgeRule { min: n.min(1), max_costly: spare, ..EdgeRule::any(picks.collect()) }
            }
            Rule::DartsCell(ops) => ops.edges(draft, op),
            Rule::Tree => EdgeRule::exactly(n.min(1), n, |_| true),
        }
    }

    /// The in-edges of the output.
    fn edges_of_output(&self, draft: &Draft) -> EdgeRule {
        let n = draft.n_nodes();
        let loose_or = |other: Pick| {
            (0..n).map(move |node| if draft.is_loose(node + 1) { Pick::Must } else { other }).collect::<Vec<_>>()
        };
        match self.rule {
            Rule::Free => EdgeRule::any(loose_or(Pick::May)),
            Rule::Published | Rule::Chain => EdgeRule::any(loose_or(Pick::Never)),
            Rule::InputToOutput => {
                EdgeRule { max_costly: self.spare(draft).unwrap_or(0), ..EdgeRule::any(loose_or(Pick::Costly)) }
            }
            Rule::Any | Rule::EachOpOnce => {
                let left = self.max_edges - draft.n_edges();
                match left.checked_sub(draft.n_loose()) {
                    Some(max_costly) => EdgeRule { max_costly, ..EdgeRule::any(loose_or(Pick::Costly)) },
                    // Joining loose ends is a habit, not a rule here: as many as fit, the likeliest.
                    None => EdgeRule::exactly(left, n, |node| draft.is_loose(node + 1)),
                }
            }
            Rule::DartsCell(ops) => ops.edges(draft, ops.output),
            Rule::Tree => EdgeRule::exactly(n.min(1), n, |_| true),
        }
    }
}

impl Rule {
    fn new(spec: &DagSpec, mode: Mode) -> Rule {
        let named = |op: Option<Op>, name: &str| {
            op.unwrap_or_else(|| {
                panic!("the rule of '{}' needs the operation '{name}', which it does not name", spec.name)
            })
        };
        let ends = |rule: Rule| {
            named(spec.input, "input");
            named(spec.output, "output");
            rule
        };
        match (mode, spec.validity) {
            (Mode::Free, _) => Rule::Free,
            (Mode::Published, _) => Rule::Published,
            (Mode::Constrained, Validity::Any) => Rule::Any,
            (Mode::Constrained, Validity::Chain) => ends(Rule::Chain),
            (Mode::Constrained, Validity::EachOpOnce) => Rule::EachOpOnce,
            (Mode::Constrained, Validity::InputToOutput) => ends(Rule::InputToOutput),
            (Mode::Constrained, Validity::DartsCell) => {
                let op = |name: &str| named(spec.op(name), name);
                let inputs = [op("c_k-2"), op("c_k-1")];
                Rule::DartsCell(CellOps { inputs, sum: op("sum"), output: op("output") })
            }
            (Mode::Constrained, Validity::Tree) => Rule::Tree,
            (Mode::Constrained, other) => panic!("there is no constrained decoding for the rule {other:?}"),
        }
    }
}

impl CellOps {
    /// Operations and sums so far.
    fn counts(&self, draft: &Draft) -> (usize, usize) {
        let sums = draft.count(self.sum);
        (draft.n_nodes().saturating_sub(CELL.inputs + sums), sums)
    }

    fn allows(&self, draft: &Draft, op: Op) -> bool {
        if draft.n_nodes() < CELL.inputs {
            return self.inputs.contains(&op) && draft.count(op) == 0;
        }
        let (operations, sums) = self.counts(draft);
        if op == self.output {
            sums == CELL.sums
        } else if op == self.sum {
            // Eight operations are four pairs, so what is left unpaired always suffices.
            sums < CELL.sums && operations >= 2 * (sums + 1)
        } else {
            !self.inputs.contains(&op) && operations < CELL.operations
        }
    }

    fn edges(&self, draft: &Draft, op: Op) -> EdgeRule {
        let n = draft.n_nodes();
        let is_sum = |node: usize| draft.ops()[node + 1] == self.sum;
        if n < CELL.inputs {
            EdgeRule::any(vec![Pick::Never; n])
        } else if op == self.output {
            EdgeRule::any((0..n).map(|node| if is_sum(node) { Pick::Must } else { Pick::Never }).collect())
        } else if op == self.sum {
            EdgeRule::exactly(2, n, |node| node >= CELL.inputs && !is_sum(node) && draft.is_loose(node + 1))
        } else {
            EdgeRule::exactly(1, n, |node| node < CELL.inputs || is_sum(node))
        }
    }
}
