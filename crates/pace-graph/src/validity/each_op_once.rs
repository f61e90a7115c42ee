//! [`Validity::EachOpOnce`](super::Validity::EachOpOnce): BN.

use super::View;
use super::any::{free_edges, free_edges_of_output};
use super::draft::Draft;
use super::edge_rule::EdgeRule;
use super::growth::{Growth, Next};
use crate::dag::Op;
use crate::error::Error;

pub(super) fn check(view: &View<'_>) -> Result<(), Error> {
    let real_ops = (0..view.spec.n_ops()).map(|op| op as Op).filter(|&op| Some(op) != view.spec.start);
    real_ops.map(|op| view.only(op)).collect::<Result<Vec<_>, _>>().map(drop)
}

/// Operations: unused ones, the output last. In-edges: any.
#[derive(Debug)]
pub(super) struct EachOpOnce;

impl Next for EachOpOnce {
    fn smallest(&self, growth: &Growth) -> (usize, usize) {
        (growth.n_ops, 0)
    }

    fn largest(&self, growth: &Growth, _draft: &Draft) -> usize {
        growth.n_ops
    }

    fn allows(&self, growth: &Growth, draft: &Draft, op: Op) -> bool {
        let rest = growth.n_ops - draft.n_nodes();
        draft.count(op) == 0 && (!growth.is_output(op) || rest == 1)
    }

    fn edges(&self, growth: &Growth, draft: &Draft, _op: Op) -> EdgeRule {
        free_edges(growth, draft)
    }

    fn edges_of_output(&self, growth: &Growth, draft: &Draft) -> EdgeRule {
        free_edges_of_output(growth, draft)
    }
}
