//! Transitive closure by bit sets in topological order: the default mask algorithm.

use super::depth::topological_order;
use super::mask::Mask;
use super::rule::{Direction, MaskRule};
use crate::dag::Dag;
use crate::dag2seq::Sequence;

/// The mask by `R(v) = {v} + union of R(u) over the edges u -> v`, 64 nodes per operation. O(n m / 64).
///
/// Not in the paper; equal to its Floyd and DFS algorithms and 10 to 10,000 times faster. Descendants run the same
/// recursion over the reversed edges.
pub fn closure_mask(dag: &Dag, rule: MaskRule) -> Mask {
    let mut mask = Mask::identity(dag.n_nodes());
    if dag.is_topologically_numbered() {
        // petgraph holds the edges in descending order (see `Dag::from_sorted`).
        let edges = dag.graph().raw_edges().iter().rev();
        merge_numbered(&mut mask, edges.map(|edge| (edge.source().index(), edge.target().index())), rule.direction);
    } else {
        merge_ordered(&mut mask, dag, rule.direction);
    }
    without_excess(mask, rule)
}

/// The same for the positions of a sequence.
pub(crate) fn sequence_mask(sequence: &Sequence, rule: MaskRule) -> Mask {
    let mut mask = Mask::identity(sequence.len());
    merge_numbered(&mut mask, sequence.edges(), rule.direction);
    without_excess(mask, rule)
}

/// The rows carry themselves while they are being merged; a strict mask drops the diagonal at the end.
fn without_excess(mut mask: Mask, rule: MaskRule) -> Mask {
    if !rule.sees_itself() {
        mask.clear_diagonal();
    }
    mask
}

/// One pass over the edges suffices if the numbering is topological and they ascend, by source or by target: then every
/// edge into a node stands before every edge out of it.
fn merge_numbered(mask: &mut Mask, edges: impl DoubleEndedIterator<Item = (usize, usize)>, direction: Direction) {
    let stride = mask.stride();
    let words = mask.words_mut();
    match (direction, stride) {
        (Direction::Ancestors, 1) => edges.for_each(|(from, to)| words[to] |= words[from]),
        (Direction::Descendants, 1) => edges.rev().for_each(|(from, to)| words[from] |= words[to]),
        // Ancestors have lower numbers, descendants higher ones: the other half of the row is empty.
        (Direction::Ancestors, _) => {
            for (from, to) in edges {
                let (low, high) = words.split_at_mut(to * stride);
                let used = from / 64 + 1;
                or_assign(&mut high[..used], &low[from * stride..][..used]);
            }
        }
        (Direction::Descendants, _) => {
            for (from, to) in edges.rev() {
                let (low, high) = words.split_at_mut(to * stride);
                let unused = to / 64;
                or_assign(&mut low[from * stride + unused..(from + 1) * stride], &high[unused..stride]);
            }
        }
    }
}

/// The same for any numbering: node by node along a topological order.
fn merge_ordered(mask: &mut Mask, dag: &Dag, direction: Direction) {
    let stride = mask.stride();
    let words = mask.words_mut();
    let mut merge = |into: usize, from: usize| {
        let cut = into.max(from) * stride;
        let (low, high) = words.split_at_mut(cut);
        let (target, source) = if into > from {
            (&mut high[..stride], &low[from * stride..][..stride])
        } else {
            (&mut low[into * stride..][..stride], &high[..stride])
        };
        or_assign(target, source);
    };
    let order = topological_order(dag);
    match direction {
        Direction::Ancestors => {
            order.iter().for_each(|&node| dag.successors(node).for_each(|to| merge(to, node)));
        }
        Direction::Descendants => {
            order.iter().rev().for_each(|&node| dag.predecessors(node).for_each(|from| merge(from, node)));
        }
    }
}

fn or_assign(target: &mut [u64], source: &[u64]) {
    target.iter_mut().zip(source).for_each(|(target, source)| *target |= source);
}
