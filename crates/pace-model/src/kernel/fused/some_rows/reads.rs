//! [`Reads`]: the rows of a block's result that are read, and the keys of each.

use std::ops::Range;

use pace_graph::Csr;

use crate::kernel::MASKED;
use crate::kernel::pair_lists::Lists;

/// Pairs per group. Threads share the groups, and each group adds one copy of the weight gradients.
const GROUP_PAIRS: usize = 512;

/// The most groups.
const MAX_GROUPS: usize = 16;

/// The rows that are read, ascending, and their keys.
#[derive(Debug)]
pub(crate) struct Reads {
    pub(crate) rows: Vec<u32>,
    /// The keys of each read; a key in its list is a pair.
    keys: Csr<u32>,
    /// The index that each pair would have if all rows were computed, by which dropout counts.
    pairs: Vec<u32>,
    /// Cover all reads and all rows, in order.
    pub(crate) groups: Vec<Group>,
}

/// Consecutive reads, and the rows they look at: no read of another group looks at these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) reads: Range<usize>,
    pub(crate) rows: Range<usize>,
}

impl Reads {
    /// The reads of packed rows.
    pub(crate) fn of_lists(rows: &[u32], lists: &Lists) -> Reads {
        let mut reads = Reads::empty(rows.len());
        for &row in rows {
            let first = lists.pair(row as usize);
            let keys = lists.keys(row as usize);
            reads.push(row, keys.iter().zip(first..).map(|(&key, pair)| (key, pair as u32)));
        }
        reads.group(lists.seams());
        reads
    }

    /// The reads of graphs of `n` rows under a bias [B, N, N]; `None` if some bias neither allows nor forbids its pair.
    pub(crate) fn of_bias(rows: &[u32], bias: &[f32], n: usize) -> Option<Reads> {
        let mut reads = Reads::empty(rows.len());
        for &row in rows {
            let (first, graph) = (row as usize * n, row as usize / n * n);
            let bias = &bias[first..first + n];
            if bias.iter().any(|&bias| bias != 0.0 && bias > MASKED) {
                return None;
            }
            let allowed = bias.iter().enumerate().filter(|(_, bias)| **bias == 0.0);
            reads.push(row, allowed.map(|(key, _)| ((graph + key) as u32, (first + key) as u32)));
        }
        let seams: Vec<u32> = (0..=bias.len() / n).step_by(n).map(|row| row as u32).collect();
        reads.group(&seams);
        Some(reads)
    }

    fn empty(count: usize) -> Reads {
        Reads { rows: Vec::with_capacity(count), keys: Csr::default(), pairs: Vec::new(), groups: Vec::new() }
    }

    fn push(&mut self, row: u32, pairs: impl Iterator<Item = (u32, u32)>) {
        assert!(self.rows.last().is_none_or(|last| *last < row), "rows are read in ascending order, each once");
        self.rows.push(row);
        let numbers = &mut self.pairs;
        self.keys.push_row(pairs.map(|(key, pair)| {
            numbers.push(pair);
            key
        }));
    }

    /// Cuts the reads into groups at seams, which no list crosses. The cut depends on the lists alone, not on the number of threads.
    fn group(&mut self, seams: &[u32]) {
        let count = self.keys.n_items().div_ceil(GROUP_PAIRS).clamp(1, MAX_GROUPS);
        let share = self.keys.n_items().div_ceil(count).max(1);
        let (mut reads, mut rows) = (0..0, 0..0);
        for &seam in &seams[1..] {
            rows.end = seam as usize;
            while self.rows.get(reads.end).is_some_and(|row| *row < seam) {
                reads.end += 1;
            }
            if self.n_pairs(&reads) >= share {
                self.groups.push(Group { reads: reads.clone(), rows: rows.clone() });
                (reads, rows) = (reads.end..reads.end, rows.end..rows.end);
            }
        }
        if !rows.is_empty() {
            self.groups.push(Group { reads, rows });
        }
    }

    /// Keys of a read.
    #[inline(always)]
    pub(crate) fn keys(&self, read: usize) -> &[u32] {
        self.keys.row(read)
    }

    /// The indices of its pairs.
    #[inline(always)]
    pub(crate) fn pairs(&self, read: usize) -> &[u32] {
        &self.pairs[self.keys.range(read)]
    }

    /// How many pairs some reads have.
    pub(crate) fn n_pairs(&self, reads: &Range<usize>) -> usize {
        let offsets = self.keys.offsets();
        (offsets[reads.end] - offsets[reads.start]) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{Group, Reads};

    const INF: f32 = f32::NEG_INFINITY;

    #[test]
    fn reads_of_a_bias() {
        // Two graphs of two rows; the last row of each is read.
        let bias = [0.0, INF, 0.0, 0.0, 0.0, INF, INF, 0.0];
        let reads = Reads::of_bias(&[1, 3], &bias, 2).unwrap();
        assert_eq!((reads.keys(0), reads.pairs(0)), (&[0, 1][..], &[2, 3][..]));
        assert_eq!((reads.keys(1), reads.pairs(1)), (&[3][..], &[7][..]));
        assert_eq!(reads.groups, [Group { reads: 0..2, rows: 0..4 }]);
        assert!(Reads::of_bias(&[1], &[0.0, INF, -1.0, 0.0], 2).is_none(), "a finite bias");
    }

    #[test]
    fn groups_have_all_reads_and_all_rows() {
        let n = 40;
        let rows: Vec<u32> = (0..60).map(|graph| graph * n + 3).collect();
        let reads = Reads::of_bias(&rows, &vec![0.0; 60 * (n * n) as usize], n as usize).unwrap();
        assert!(reads.groups.len() > 2);
        assert!(reads.groups.windows(2).all(|pair| pair[0].reads.end == pair[1].reads.start));
        assert!(reads.groups.windows(2).all(|pair| pair[0].rows.end == pair[1].rows.start));
        assert_eq!(reads.groups.last().map(|group| (group.reads.end, group.rows.end)), Some((60, 2400)));
    }

    #[test]
    #[should_panic(expected = "ascending")]
    fn rows_come_in_order() {
        Reads::of_bias(&[1, 0], &[0.0; 4], 2);
    }
}
