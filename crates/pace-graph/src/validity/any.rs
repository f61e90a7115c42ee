//! [`Validity::Any`](super::Validity::Any), and what a limit on the edges means where edges are free.

use super::draft::Draft;
use super::edge_rule::{EdgeRule, Pick};
use super::growth::{Growth, Next};
use crate::dag::Op;

/// Operations: no second input. In-edges: any; the output takes the loose ends and any others.
#[derive(Debug)]
pub(super) struct Any;

impl Next for Any {
    fn smallest(&self, growth: &Growth) -> (usize, usize) {
        (growth.n_ends().max(1), 0)
    }

    fn edges(&self, growth: &Growth, draft: &Draft, _op: Op) -> EdgeRule {
        free_edges(growth, draft)
    }

    fn edges_of_output(&self, growth: &Growth, draft: &Draft) -> EdgeRule {
        free_edges_of_output(growth, draft)
    }
}

/// Any in-edges that the limit leaves.
pub(super) fn free_edges(growth: &Growth, draft: &Draft) -> EdgeRule {
    let max_costly = growth.max_edges - draft.n_edges();
    EdgeRule { max_costly, ..EdgeRule::any(vec![Pick::Costly; draft.n_nodes()]) }
}

/// All loose ends, and any others that the limit leaves.
pub(super) fn free_edges_of_output(growth: &Growth, draft: &Draft) -> EdgeRule {
    let left = growth.max_edges - draft.n_edges();
    match left.checked_sub(draft.n_loose()) {
        Some(max_costly) => EdgeRule { max_costly, ..EdgeRule::any(draft.loose_or(Pick::Costly)) },
        // Joining loose ends is a habit, not a rule here: as many as fit, the likeliest.
        None => EdgeRule::exactly(left, draft.n_nodes(), |node| draft.is_loose(node + 1)),
    }
}
