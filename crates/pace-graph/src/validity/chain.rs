//! [`Validity::Chain`](super::Validity::Chain): NA.

use super::View;
use super::draft::Draft;
use super::edge_rule::{EdgeRule, Pick};
use super::growth::{Growth, Next};
use crate::dag::Op;
use crate::error::Error;
use crate::structure::depths;

pub(super) fn check(view: &View<'_>) -> Result<(), Error> {
    let (_, output) = super::input_to_output::ends(view)?;
    let longest = depths(view.dag).into_iter().max().unwrap_or(0);
    // A path through all nodes exists iff the longest path is as long as the graph is large.
    view.check(longest + 1 == view.dag.n_nodes(), || {
        "it wants a path through all nodes; connect each layer to the one before it".to_owned()
    })?;
    view.check(view.in_degree(output) == 1, || {
        format!("output node {output} wants exactly one predecessor and has {}", view.in_degree(output))
    })
}

/// Operations: no second input. In-edges: the node before, and any others; of the output, no others.
#[derive(Debug)]
pub(super) struct Chain;

impl Next for Chain {
    fn smallest(&self, _growth: &Growth) -> (usize, usize) {
        (2, 1)
    }

    fn largest(&self, growth: &Growth, draft: &Draft) -> usize {
        growth.largest_with_spare(draft)
    }

    fn edges(&self, growth: &Growth, draft: &Draft, _op: Op) -> EdgeRule {
        let n = draft.n_nodes();
        let picks = (0..n).map(|node| if node + 1 == n { Pick::Must } else { Pick::Costly }).collect();
        EdgeRule { max_costly: growth.spare_after_itself(draft), ..EdgeRule::any(picks) }
    }

    fn edges_of_output(&self, _growth: &Growth, draft: &Draft) -> EdgeRule {
        EdgeRule::any(draft.loose_or(Pick::Never))
    }
}
