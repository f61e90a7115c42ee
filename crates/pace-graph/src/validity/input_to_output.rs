//! [`Validity::InputToOutput`](super::Validity::InputToOutput): NAS-Bench-101.

use super::View;
use super::draft::Draft;
use super::edge_rule::{EdgeRule, Pick};
use super::growth::{Growth, Next};
use crate::dag::Op;
use crate::error::Error;

pub(super) fn check(view: &View<'_>) -> Result<(), Error> {
    // With the only source an input and the only sink an output, every node lies on a path between the two.
    ends(view).map(drop)
}

/// Input and output node, if every other node has predecessors and successors.
pub(super) fn ends(view: &View<'_>) -> Result<(usize, usize), Error> {
    let (input, output) = (view.role(view.spec.input, "input")?, view.role(view.spec.output, "output")?);
    let (input, output) = (view.only(input)?, view.only(output)?);
    view.check(view.in_degree(input) == 0, || format!("input node {input} has predecessors; remove those edges"))?;
    view.check(view.out_degree(output) == 0, || format!("output node {output} has successors; remove those edges"))?;
    for node in view.nodes() {
        let missing = match node {
            _ if node != input && view.in_degree(node) == 0 => "predecessor",
            _ if node != output && view.out_degree(node) == 0 => "successor",
            _ => continue,
        };
        return Err(Error::Disconnected { node, missing, spec: view.spec.name.clone() });
    }
    Ok((input, output))
}

/// Operations: no second input. In-edges: at least one; of the output, all loose ends and any others.
#[derive(Debug)]
pub(super) struct InputToOutput;

impl Next for InputToOutput {
    fn smallest(&self, _growth: &Growth) -> (usize, usize) {
        (2, 1)
    }

    fn largest(&self, growth: &Growth, draft: &Draft) -> usize {
        growth.largest_with_spare(draft)
    }

    fn edges(&self, growth: &Growth, draft: &Draft, _op: Op) -> EdgeRule {
        let n = draft.n_nodes();
        let picks = (0..n).map(|node| if draft.is_loose(node + 1) { Pick::May } else { Pick::Costly });
        EdgeRule { min: n.min(1), max_costly: growth.spare_after_itself(draft), ..EdgeRule::any(picks.collect()) }
    }

    fn edges_of_output(&self, growth: &Growth, draft: &Draft) -> EdgeRule {
        EdgeRule { max_costly: growth.spare(draft).unwrap_or(0), ..EdgeRule::any(draft.loose_or(Pick::Costly)) }
    }
}
