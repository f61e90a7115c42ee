//! The features of a NAS-Bench-101 cell.
//!
//! All are the same for isomorphic cells. Most are counts over nodes, edges and paths. The others describe the canonical
//! form, and only they distinguish all cells.

use pace_graph::{Dag, DagSpec, Error, canonical};

use crate::perceptron::Entry;

/// Inner operations: conv1x1, conv3x3, maxpool.
const N_INNER: usize = 3;
const MAX_INNER: usize = 5;

/// The number of features of each part, in this order.
const PARTS: [usize; 9] =
    [N_PATHS, DEPTHS, SURROUNDINGS, EDGE_KINDS, STEP_KINDS, SIZES, CANONICAL_EDGES, CANONICAL_OPS, AMOUNTS];
/// Sequences of at most 5 operations: 1 + 3 + 9 + 27 + 81 + 243.
const N_PATHS: usize = 364;
/// Operation, longest path from the input, longest path to the output.
const DEPTHS: usize = N_INNER * MAX_INNER * MAX_INNER;
/// Operation, fed by the input, feeding the output, 1, 2 or more edges in, and out.
const SURROUNDINGS: usize = N_INNER * 2 * 2 * 3 * 3;
/// Operations at the two ends of an edge.
const EDGE_KINDS: usize = 25;
/// Operations of three nodes in a row.
const STEP_KINDS: usize = 4 * N_INNER * 4;
/// One-hot: nodes, edges, edges out of the input, edges into the output, longest path, number of paths.
const SIZES: usize = 6 * SIZE_LEVELS;
const SIZE_LEVELS: usize = 10;
const CANONICAL_EDGES: usize = 21;
const CANONICAL_OPS: usize = MAX_INNER * N_INNER;
/// Weights of the two convolutions, channels pooled, projections, all of these together (log), paths weighed by channels.
const AMOUNTS: usize = 6;

/// All features.
pub(super) const N_FEATURES: usize =
    N_PATHS + DEPTHS + SURROUNDINGS + EDGE_KINDS + STEP_KINDS + SIZES + CANONICAL_EDGES + CANONICAL_OPS + AMOUNTS;

/// Collects entries part by part.
#[derive(Default)]
struct Row {
    entries: Vec<Entry>,
    start: usize,
    part: usize,
}

impl Row {
    /// Adds 1 to a feature of the current part.
    fn count(&mut self, feature: usize) {
        let feature = (self.start + feature) as u16;
        match self.entries.iter_mut().rev().find(|(other, _)| *other == feature) {
            Some((_, value)) => *value += 1.0,
            None => self.entries.push((feature, 1.0)),
        }
    }

    fn next_part(&mut self) {
        self.start += PARTS[self.part];
        self.part += 1;
    }
}

/// The features of a cell, under any numbering, that are not zero.
pub(super) fn cell_features(dag: &Dag) -> Result<Vec<Entry>, Error> {
    DagSpec::nas101().validate(dag)?;
    let dag = canonical(dag);
    let (n, last) = (dag.n_nodes(), dag.n_nodes() - 1);
    let op = |node: usize| usize::from(dag.op(node));
    let edges: Vec<(usize, usize)> = dag.edges().collect();
    let next: Vec<Vec<usize>> = (0..n).map(|node| dag.successors(node).collect()).collect();
    let n_in: Vec<usize> = (0..n).map(|node| dag.predecessors(node).count()).collect();
    let mut depth = vec![0; n];
    edges.iter().for_each(|&(from, to)| depth[to] = depth[to].max(depth[from] + 1));
    let mut height = vec![0; n];
    edges.iter().rev().for_each(|&(from, to)| height[from] = height[from].max(height[to] + 1));

    let mut row = Row::default();
    let mut n_paths = 0;
    paths(&next, &op, 0, (0, 0), &mut |path| {
        n_paths += 1;
        row.count(path);
    });
    row.next_part();
    for node in 1..last {
        row.count(((op(node) - 1) * MAX_INNER + depth[node] - 1) * MAX_INNER + height[node] - 1);
    }
    row.next_part();
    for node in 1..last {
        let ends = 2 * usize::from(dag.has_edge(0, node)) + usize::from(dag.has_edge(node, last));
        let degrees = 3 * (n_in[node].min(3) - 1) + next[node].len().min(3) - 1;
        row.count(((op(node) - 1) * 4 + ends) * 9 + degrees);
    }
    row.next_part();
    edges.iter().for_each(|&(from, to)| row.count(5 * op(from) + op(to)));
    row.next_part();
    for &(from, by) in edges.iter().filter(|&&(_, by)| by != last) {
        next[by].iter().for_each(|&to| row.count((op(from) * N_INNER + op(by) - 1) * 4 + op(to) - 1));
    }
    row.next_part();
    let sizes = [n - 2, edges.len() - 1, next[0].len() - 1, n_in[last] - 1, depth[last] - 1, n_paths - 1];
    sizes.iter().enumerate().for_each(|(which, &size)| row.count(which * SIZE_LEVELS + size.min(SIZE_LEVELS - 1)));
    row.next_part();
    edges.iter().for_each(|&(from, to)| row.count(to * (to - 1) / 2 + from));
    row.next_part();
    (1..last).for_each(|node| row.count((node - 1) * N_INNER + op(node) - 1));
    row.next_part();
    let start = row.start;
    let amounts = amounts(&dag, &next).into_iter().enumerate();
    row.entries.extend(amounts.map(|(which, amount)| ((start + which) as u16, amount)));
    Ok(row.entries)
}

/// Calls `found` for every path from `node` to the output, with the number of its sequence of operations.
fn paths(
    next: &[Vec<usize>],
    op: &impl Fn(usize) -> usize,
    node: usize,
    (length, code): (u32, usize),
    found: &mut impl FnMut(usize),
) {
    for &to in &next[node] {
        if to + 1 == next.len() {
            // Shorter sequences come first: (3^length - 1) / 2 of them.
            found((N_INNER.pow(length) - 1) / 2 + code);
        } else {
            paths(next, op, to, (length + 1, N_INNER * code + op(to) - 1), found);
        }
    }
}

/// The amounts of computation, for one channel of input and of output.
///
/// The output concatenates the m inner nodes before it, so each of them has 1/m of the channels. Any other node has as many
/// channels as the widest node after it (Ying et al. 2019, section 2.2). Edges from the input are projections (1x1
/// convolutions).
fn amounts(dag: &Dag, next: &[Vec<usize>]) -> [f32; AMOUNTS] {
    let last = next.len() - 1;
    let n_final = dag.predecessors(last).filter(|&node| node != 0).count() as f32;
    let mut channels = vec![0.0_f32; next.len()];
    let (mut by_op, mut projected, mut depth_mass) = ([0.0; N_INNER], 0.0, 0.0);
    for node in (1..last).rev() {
        let widest = next[node].iter().fold(0.0_f32, |widest, &to| widest.max(channels[to]));
        channels[node] = if dag.has_edge(node, last) { 1.0 / n_final } else { widest };
        let share = channels[node];
        let inner = usize::from(dag.op(node)) - 1;
        by_op[inner] += if inner == 2 { share } else { share * share };
        projected += if dag.has_edge(0, node) { share } else { 0.0 };
        depth_mass += share * next[node].len() as f32;
    }
    let skip = f32::from(u8::from(dag.has_edge(0, last)));
    let weights = by_op[0] + 9.0 * by_op[1] + projected + skip;
    [by_op[0], by_op[1], by_op[2], projected, (weights + 0.1).ln(), 0.5 * depth_mass]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_of_a_small_cell() {
        // input > conv3x3 > output, input > maxpool > output, conv3x3 > maxpool.
        let dag: Dag = "0 2 3 4 : 0>1 0>2 1>2 1>3 2>3".parse().unwrap();
        let features = cell_features(&dag).unwrap();
        let value = |feature: usize| features.iter().find(|entry| usize::from(entry.0) == feature).map(|entry| entry.1);
        // Paths: conv3x3 (1 + 1), maxpool (1 + 2), conv3x3 then maxpool (4 + 3 + 2).
        assert_eq!([2, 3, 9].map(value), [Some(1.0); 3]);
        assert_eq!([0, 1, 4].map(value), [None; 3]);
        // The convolution has depth 1 and height 2.
        assert_eq!(value(N_PATHS + 25 + 1), Some(1.0));
        // Both nodes feed the output, so each has half of the channels.
        assert_eq!(value(N_FEATURES - 5), Some(0.25));
        assert_eq!(value(N_FEATURES - 4), Some(0.5));
        assert_eq!(value(N_FEATURES - 3), Some(1.0));
        assert_eq!(PARTS.iter().sum::<usize>(), N_FEATURES);
    }

    #[test]
    fn numbering_does_not_matter_but_every_cell_differs() {
        let dag: Dag = "0 2 3 1 4 : 0>1 0>2 1>2 1>3 2>3 3>4 0>4".parse().unwrap();
        assert_eq!(cell_features(&dag.relabel(&[4, 2, 0, 3, 1])).unwrap(), cell_features(&dag).unwrap());
        let other: Dag = "0 2 3 1 4 : 0>1 0>2 1>2 1>3 2>3 3>4 1>4".parse().unwrap();
        assert_ne!(cell_features(&other).unwrap(), cell_features(&dag).unwrap());
        assert!(cell_features(&"0 4 1 : 0>1 0>2".parse().unwrap()).is_err());
    }
}
