//! [`Policy`]: what a [`Mode`] allows next.

use pace_graph::{DagSpec, Draft, EdgeRule, Growth, NextNode, Op, Pick};

use super::options::Mode;

/// The rules of one mode and spec.
#[derive(Debug)]
pub(super) enum Policy {
    /// [`Mode::Free`] and [`Mode::Published`].
    Model(Model),
    /// [`Mode::Constrained`].
    Valid(Growth),
}

/// What limits a graph that need not be valid.
#[derive(Debug)]
pub(super) struct Model {
    published: bool,
    start: Op,
    input: Option<Op>,
    output: Option<Op>,
    /// Real nodes.
    max_nodes: usize,
}

impl Policy {
    /// # Panics
    /// If the spec has no start symbol or no room for a node, or, in [`Mode::Constrained`], nothing can satisfy it.
    pub fn new(spec: &DagSpec, mode: Mode) -> Policy {
        let start = spec.start.expect("decoding starts from a start symbol, and the spec has none");
        assert!(spec.max_nodes > 1, "the spec '{}' has no room for a node", spec.name);
        match mode {
            Mode::Constrained => Policy::Valid(Growth::new(spec)),
            Mode::Free | Mode::Published => Policy::Model(Model {
                published: mode == Mode::Published,
                start,
                input: spec.input,
                output: spec.output,
                max_nodes: spec.max_nodes - 1,
            }),
        }
    }

    /// Whether the next node may have operation `op`.
    pub fn allows(&self, draft: &Draft, op: Op) -> bool {
        match self {
            Policy::Model(model) => model.allows(draft, op),
            Policy::Valid(growth) => growth.allows(draft, op),
        }
    }

    /// The next node, once an operation is drawn for it; and the operation that it gets.
    pub fn next(&self, draft: &Draft, drawn: Op) -> (Op, NextNode) {
        match self {
            Policy::Model(model) => model.next(draft, drawn),
            Policy::Valid(growth) => (drawn, growth.next(draft, drawn)),
        }
    }
}

impl Model {
    fn is_last(&self, draft: &Draft) -> bool {
        draft.n_nodes() + 1 >= self.max_nodes
    }

    fn allows(&self, draft: &Draft, op: Op) -> bool {
        match self.input {
            Some(input) if draft.n_nodes() == 0 => op == input,
            _ if self.published => true,
            _ => op != self.start && (self.output.is_none() || !self.is_last(draft) || Some(op) == self.output),
        }
    }

    fn next(&self, draft: &Draft, drawn: Op) -> (Op, NextNode) {
        let last = self.is_last(draft);
        let op = match self.output {
            Some(output) if self.published && last => output,
            _ => drawn,
        };
        let picks = match (Some(drawn) == self.output, self.published) {
            (true, true) => draft.loose_or(Pick::Never),
            (true, false) => draft.loose_or(Pick::May),
            (false, _) => vec![Pick::May; draft.n_nodes()],
        };
        (op, NextNode { edges: EdgeRule::any(picks), last: last || Some(op) == self.output })
    }
}
