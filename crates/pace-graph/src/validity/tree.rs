//! [`Validity::Tree`](super::Validity::Tree): abstract syntax trees.

use super::View;
use super::draft::Draft;
use super::edge_rule::EdgeRule;
use super::growth::{Growth, Next};
use crate::dag::Op;
use crate::error::Error;

pub(super) fn check(view: &View<'_>) -> Result<(), Error> {
    let roots = view.nodes().filter(|&node| view.in_degree(node) == 0).count();
    view.check(roots == 1, || format!("it wants exactly one root and has {roots}"))?;
    match view.nodes().find(|&node| view.in_degree(node) > 1) {
        Some(node) => view.spec.broken(format!("node {node} has {} parents; keep one", view.in_degree(node))),
        None => Ok(()),
    }
}

/// Operations: no second input. In-edges: exactly one, but for the root.
#[derive(Debug)]
pub(super) struct Tree;

impl Next for Tree {
    fn smallest(&self, growth: &Growth) -> (usize, usize) {
        let n_nodes = growth.n_ends().max(1);
        (n_nodes, n_nodes - 1)
    }

    fn largest(&self, growth: &Growth, _draft: &Draft) -> usize {
        growth.max_nodes.min(growth.max_edges.saturating_add(1))
    }

    fn edges(&self, _growth: &Growth, draft: &Draft, _op: Op) -> EdgeRule {
        let n = draft.n_nodes();
        EdgeRule::exactly(n.min(1), n, |_| true)
    }

    fn edges_of_output(&self, growth: &Growth, draft: &Draft) -> EdgeRule {
        self.edges(growth, draft, 0)
    }
}
