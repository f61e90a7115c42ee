//! [`Pasts`]: which nodes of a batch have equal vectors, whatever the parameters.
//!
//! Under an ancestor mask the vector of a node, in any block, depends on its own input and on the vectors of the nodes it
//! looks at, all of which stand before it. So two nodes with equal inputs that look at equal nodes have equal vectors, in one
//! graph or in two: graphs that begin alike share the rows of their beginning. The *past* of a node is its input and all it looks
//! at, directly or not. Of the nodes of 1,024 ENAS graphs about half have a past of their own.

use std::ops::Range;

use burn::tensor::Tensor;
use pace_graph::Csr;
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use crate::batch::ints;
use crate::interner::Interner;

/// Graphs per group, at least and at most. Threads share the groups, and a larger group has more equal pasts.
const GROUP_GRAPHS: [usize; 2] = [8, 4096];

/// The distinct pasts of a batch of graphs of N rows. Built by hash-consing in O(pairs).
#[derive(Debug, Clone)]
pub struct Pasts {
    n: usize,
    /// The input of each past.
    pub(crate) inputs: Vec<u32>,
    /// The pasts that each past looks at, itself perhaps among them.
    pub(crate) keys: Csr<u32>,
    /// The past of every row.
    pub(crate) of_row: Vec<u32>,
    /// Cover all pasts and all rows, in order.
    pub(crate) groups: Vec<Group>,
}

/// Consecutive graphs that share pasts with each other and with no other graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) pasts: Range<usize>,
    pub(crate) rows: Range<usize>,
}

/// Stands for the past that is being looked up.
const ITSELF: u32 = u32::MAX;

impl Pasts {
    /// The pasts of graphs of `n` rows. `inputs` has a number for each row, equal ones for equal inputs. `looks_at` fills an empty list
    /// with the positions in its graph that a row looks at, ascending. `None` if a position stands after the row.
    pub fn new(inputs: &[u32], n: usize, looks_at: impl Fn(usize, &mut Vec<u32>) + Sync) -> Option<Pasts> {
        Pasts::with_beginnings(inputs, n, &vec![0; inputs.len() / n.max(1)], looks_at)
    }

    /// [`Pasts::new`] for graphs of which it is known how many rows at their beginning are like those of the graph before, in
    /// input and in what they look at. These rows are not looked up.
    pub(crate) fn with_beginnings(
        inputs: &[u32],
        n: usize,
        beginnings: &[usize],
        looks_at: impl Fn(usize, &mut Vec<u32>) + Sync,
    ) -> Option<Pasts> {
        let groups = groups(inputs.len() / n.max(1));
        let part = |graphs: &Range<usize>| Pasts::of_group(inputs, n, graphs.clone(), beginnings, &looks_at);
        let mut parts = groups.par_iter().map(part).collect::<Option<Vec<_>>>()?.into_iter();
        let mut all = parts.next().unwrap_or_else(|| Pasts::empty(n, 0));
        parts.for_each(|part| all.append(part));
        Some(all)
    }

    fn empty(n: usize, rows: usize) -> Pasts {
        Pasts {
            n,
            inputs: Vec::with_capacity(rows),
            keys: Csr::with_capacity(rows, 4 * rows),
            of_row: Vec::with_capacity(rows),
            groups: Vec::new(),
        }
    }

    /// The pasts of some graphs, counted from 0.
    fn of_group(
        inputs: &[u32],
        n: usize,
        graphs: Range<usize>,
        beginnings: &[usize],
        looks_at: impl Fn(usize, &mut Vec<u32>),
    ) -> Option<Pasts> {
        let rows = graphs.start * n..graphs.end * n;
        let mut found = Interner::new(rows.len());
        let mut pasts = Pasts::empty(n, rows.len());
        let (mut positions, mut past) = (Vec::new(), Vec::new());
        for row in rows.clone() {
            let (graph, position) = ((row - rows.start) / n * n, (row % n) as u32);
            // The first graph of a group has no other to be like.
            if graph > 0 && row % n < beginnings[row / n] {
                pasts.of_row.push(pasts.of_row[row - rows.start - n]);
                continue;
            }
            positions.clear();
            looks_at(row, &mut positions);
            past.clear();
            past.push(inputs[row]);
            for &key in &positions {
                past.push(match key.cmp(&position) {
                    std::cmp::Ordering::Less => pasts.of_row[graph + key as usize],
                    std::cmp::Ordering::Equal => ITSELF,
                    std::cmp::Ordering::Greater => return None,
                });
            }
            let (count, number) = (found.len() as u32, found.intern(&past));
            if number == count {
                pasts.inputs.push(inputs[row]);
                pasts.keys.push_row(past[1..].iter().map(|&key| if key == ITSELF { number } else { key }));
            }
            pasts.of_row.push(number);
        }
        pasts.groups.push(Group { pasts: 0..pasts.inputs.len(), rows });
        Some(pasts)
    }

    /// Adds the pasts of the next group.
    fn append(&mut self, other: Pasts) {
        let (pasts, pairs) = (self.len() as u32, self.keys.n_items() as u32);
        self.inputs.extend(other.inputs);
        let (mut offsets, mut keys) = std::mem::take(&mut self.keys).into_parts();
        offsets.extend(other.keys.offsets()[1..].iter().map(|offset| offset + pairs));
        keys.extend(other.keys.items().iter().map(|key| key + pasts));
        self.keys = Csr::from_parts(offsets, keys);
        self.of_row.extend(other.of_row.iter().map(|past| past + pasts));
        let moved = |range: Range<usize>| range.start + pasts as usize..range.end + pasts as usize;
        self.groups.extend(other.groups.into_iter().map(|group| Group { pasts: moved(group.pasts), ..group }));
    }

    /// The vectors of all rows, or of the given ones, from those of the pasts. Shapes: [pasts, D] -> [B*N, D] or [R, D].
    pub fn expand(&self, y: Tensor<2>, rows: Option<&[u32]>) -> Tensor<2> {
        match rows {
            Some(rows) => select(y, rows.iter().map(|&row| self.of_row[row as usize])),
            None => select(y, self.of_row.iter().copied()),
        }
    }

    /// The input of each past. Shapes: [U, D] -> [pasts, D].
    pub(super) fn of_inputs(&self, x: Tensor<2>) -> Tensor<2> {
        select(x, self.inputs.iter().copied())
    }

    /// How many pasts.
    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// How many rows the graphs have together, B*N.
    pub fn n_rows(&self) -> usize {
        self.of_row.len()
    }

    /// Rows per graph, which no list of keys exceeds.
    pub fn n(&self) -> usize {
        self.n
    }
}

fn select(x: Tensor<2>, rows: impl ExactSizeIterator<Item = u32>) -> Tensor<2> {
    let (device, count) = (x.device(), rows.len());
    x.select(0, ints(rows.map(|row| row as i32).collect(), [count], &device))
}

/// The groups of a batch of so many graphs. On a worker thread as few as possible: the other workers have batches of their own. Else
/// an even number, unless the graphs are very few. A row's vector does not depend on its group.
fn groups(batch: usize) -> Vec<Range<usize>> {
    let [least, most] = GROUP_GRAPHS;
    let count = batch.div_ceil(most);
    let alone = rayon::current_thread_index().is_none();
    let count = if alone { count.next_multiple_of(2).min(batch / least) } else { count };
    let group = batch.div_ceil(count.max(1)).max(1);
    (0..batch).step_by(group).map(|first| first..batch.min(first + group)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Pasts, groups};

    /// In one group, whoever asks.
    fn one_group(inputs: &[u32], n: usize, looks_at: impl Fn(usize, &mut Vec<u32>) + Sync) -> Option<Pasts> {
        let graphs = inputs.len() / n;
        Pasts::of_group(inputs, n, 0..graphs, &vec![0; graphs], looks_at)
    }

    /// What is known to be alike is found alike, too.
    #[test]
    fn beginnings_change_nothing() {
        let inputs = [1, 2, 3, 1, 2, 4, 1, 5, 3, 1, 5, 3];
        let found = one_group(&inputs, 3, causal(3)).unwrap();
        let known = Pasts::of_group(&inputs, 3, 0..4, &[0, 2, 1, 3], causal(3)).unwrap();
        assert_eq!((&known.of_row, &known.keys, &known.inputs), (&found.of_row, &found.keys, &found.inputs));
    }

    fn causal(n: u32) -> impl Fn(usize, &mut Vec<u32>) + Sync {
        move |row, keys| keys.extend(0..=row as u32 % n)
    }

    /// Two chains of three that differ in their last node, and one that differs in its second.
    #[test]
    fn equal_pasts_are_one() {
        let pasts = one_group(&[1, 2, 3, 1, 2, 4, 1, 5, 3], 3, causal(3)).unwrap();
        assert_eq!(pasts.inputs, [1, 2, 3, 4, 5, 3]);
        assert_eq!(pasts.of_row, [0, 1, 2, 0, 1, 3, 0, 4, 5]);
        assert_eq!(pasts.keys.row(3), [0, 1, 3]);
        assert_eq!(pasts.keys.row(5), [0, 4, 5]);
    }

    /// The same inputs, but the second node of the second graph does not look at the first.
    #[test]
    fn other_keys_are_another_past() {
        let pasts = one_group(&[1, 2, 1, 2], 2, |row, keys| {
            keys.extend([0, 1].iter().filter(|&&key| key <= row as u32 % 2 && (row != 3 || key == 1)))
        });
        assert_eq!(pasts.unwrap().of_row, [0, 1, 0, 2]);
    }

    #[test]
    fn looking_ahead_is_refused() {
        assert!(one_group(&[1, 2], 2, |_, keys| keys.extend([0, 1])).is_none());
    }

    #[test]
    fn groups_are_numbered_on() {
        // Outside a pool there are two groups, each with one past per position.
        let pasts = Pasts::new(&[1, 2].repeat(20), 2, causal(2)).unwrap();
        assert_eq!((pasts.len(), pasts.n_rows(), pasts.groups.len()), (4, 40, 2));
        assert_eq!((&pasts.of_row[18..22], pasts.keys.items()), (&[0, 1, 2, 3][..], &[0, 0, 1, 2, 2, 3][..]));
        assert_eq!((&pasts.groups[1].pasts, &pasts.groups[1].rows), (&(2..4), &(20..40)));
        assert!(Pasts::new(&[], 3, causal(3)).unwrap().is_empty());
    }

    #[test]
    fn groups_cover_the_batch() {
        for batch in [0, 1, 9, 16, 17, 128, 5000, 20_000] {
            let groups = groups(batch);
            assert_eq!(groups.iter().map(ExactSizeIterator::len).sum::<usize>(), batch);
            assert!(groups.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
    }
}
