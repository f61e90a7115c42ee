//! The size of the network that a NAS-Bench-101 cell is built into.

use crate::dag::{Dag, Op};

/// Operations of [`DagSpec::nas101`](crate::DagSpec::nas101).
const CONV_1X1: Op = 1;
const CONV_3X3: Op = 2;

/// Classes of CIFAR-10.
const N_CLASSES: u64 = 10;
/// Channels behind the first convolution.
const STEM: u64 = 128;
/// Stacks of cells; each but the first has twice the channels of the one before.
const N_STACKS: u32 = 3;
/// Cells of a stack.
const N_CELLS: u32 = 3;

/// Trainable parameters of the network of a cell (Ying et al., 2019): a convolution, three stacks of three cells, a linear map. It
/// equals what the benchmark lists, for cells numbered as there: of several nodes before the output, the first get the channels
/// that do not divide evenly.
///
/// The cell is numbered topologically, input first and output last.
pub fn nas101_parameters(dag: &Dag) -> u64 {
    let mut total = convolution(9, 3, STEM);
    let mut before = STEM;
    for stack in 0..N_STACKS {
        let channels = STEM << stack;
        for _ in 0..N_CELLS {
            total += cell(dag, before, channels);
            before = channels;
        }
    }
    total + before * N_CLASSES + N_CLASSES
}

/// A convolution of so many pixels without bias, and the scale and offset of its batch norm.
fn convolution(n_pixels: u64, from: u64, to: u64) -> u64 {
    n_pixels * from * to + 2 * to
}

/// One cell.
fn cell(dag: &Dag, from: u64, to: u64) -> u64 {
    let (last, channels) = (dag.n_nodes() - 1, channels(dag, to));
    let inner = (1..last).map(|node| {
        let width = channels[node];
        let op = match dag.op(node) {
            CONV_1X1 => convolution(1, width, width),
            CONV_3X3 => convolution(9, width, width),
            _ => 0,
        };
        // The input has another width: it is projected.
        op + if dag.has_edge(0, node) { convolution(1, from, width) } else { 0 }
    });
    let inner: u64 = inner.sum();
    inner + if dag.has_edge(0, last) { convolution(1, from, to) } else { 0 }
}

/// The channels of each node of a cell with `to` channels at its output: nodes before the output share them, for they are put side by
/// side there; every other is as wide as the widest that it speaks to.
fn channels(dag: &Dag, to: u64) -> Vec<u64> {
    let last = dag.n_nodes() - 1;
    let mut channels = vec![0; dag.n_nodes()];
    let n_ends = (1..last).filter(|&node| dag.has_edge(node, last)).count() as u64;
    let mut left_over = if n_ends > 0 { to % n_ends } else { 0 };
    for node in (1..last).filter(|&node| dag.has_edge(node, last)) {
        channels[node] = to / n_ends + u64::from(left_over > 0);
        left_over = left_over.saturating_sub(1);
    }
    for node in (1..last).rev().filter(|&node| !dag.has_edge(node, last)) {
        channels[node] = dag.successors(node).map(|next| channels[next]).max().unwrap_or(0);
    }
    channels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_way_splits_are_uneven_and_straight_cells_are_known() {
        let cell: Dag = "0 1 2 3 4 : 0>1 0>2 0>3 1>4 2>4 3>4".parse().unwrap();
        assert_eq!(channels(&cell, 128), [0, 43, 43, 42, 0]);
        // Input to output: projections alone.
        let empty: Dag = "0 4 : 0>1".parse().unwrap();
        let projections: u64 = [(128, 128), (128, 128), (128, 128), (128, 256), (256, 256), (256, 256)]
            .into_iter()
            .chain([(256, 512), (512, 512), (512, 512)])
            .map(|(from, to)| from * to + 2 * to)
            .sum();
        assert_eq!(nas101_parameters(&empty), 27 * 128 + 256 + projections + 5130);
    }
}
