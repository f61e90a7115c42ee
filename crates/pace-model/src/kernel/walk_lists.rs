//! [`WalkLists`]: who hears whom on a walk along the edges of graphs, level by level.

use std::sync::Arc;

use pace_graph::Csr;

/// The nodes of a walk as R rows, level after level: a node's level is above those of all it hears.
///
/// A node hears some of K tellers. The first G tellers are given; the others are the nodes that somebody hears, in the order of
/// their rows. In every level these come first, so that they are a range of rows.
#[derive(Clone, Debug)]
pub struct WalkLists {
    n_given: usize,
    levels: Vec<WalkLevel>,
    /// The tellers that each row hears, in the order in which they are summed.
    heard: Csr<u32>,
    /// For each teller, the rows that hear it and the number of that edge among all.
    hearers: Csr<[u32; 2]>,
}

/// The rows of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkLevel {
    /// The first of its rows.
    pub first: usize,
    /// How many rows.
    pub n_rows: usize,
    /// Its first teller.
    pub first_teller: usize,
    /// How many of its rows, the first ones, are tellers.
    pub n_tellers: usize,
}

impl WalkLists {
    /// How many rows, R.
    pub fn n_rows(&self) -> usize {
        self.heard.n_rows()
    }

    /// How many tellers are given, G.
    pub fn n_given(&self) -> usize {
        self.n_given
    }

    /// How many tellers are nodes, K - G.
    pub fn n_told(&self) -> usize {
        self.hearers.n_rows() - self.n_given
    }

    /// The levels in the order of the walk.
    pub fn levels(&self) -> &[WalkLevel] {
        &self.levels
    }

    /// The tellers that each row hears.
    pub fn heard(&self) -> &Csr<u32> {
        &self.heard
    }

    /// The rows that hear each teller, with the numbers of the edges.
    #[cfg(feature = "flex")]
    pub(crate) fn hearers(&self) -> &Csr<[u32; 2]> {
        &self.hearers
    }

    /// The row of each teller that is a node.
    pub fn told_rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.levels.iter().flat_map(|level| level.first..level.first + level.n_tellers)
    }
}

/// Collects nodes, each after all that it hears.
#[derive(Debug)]
pub struct WalkBuilder {
    n_given: usize,
    sources: Csr<u32>,
}

impl WalkBuilder {
    /// No nodes yet. Numbers below `n_given` are given tellers; nodes have the numbers from there on.
    pub fn new(n_given: usize) -> WalkBuilder {
        WalkBuilder { n_given, sources: Csr::default() }
    }

    /// Adds a node that hears these numbers; returns its own.
    ///
    /// # Panics
    /// If it hears a node that is not there yet.
    pub fn push(&mut self, sources: impl IntoIterator<Item = u32>) -> u32 {
        let number = (self.n_given + self.sources.n_rows()) as u32;
        let row = self.sources.push_row(sources);
        assert!(row.iter().all(|&source| source < number), "a node hears nodes before it");
        number
    }

    /// The lists, and the row of each node in the order in which they were added.
    pub fn finish(self) -> (Arc<WalkLists>, Vec<u32>) {
        let (n_given, n_rows) = (self.n_given, self.sources.n_rows());
        let (mut level, mut is_heard) = (vec![0_u32; n_rows], vec![false; n_rows]);
        for (node, sources) in self.sources.rows().enumerate() {
            for before in sources.iter().filter_map(|&source| (source as usize).checked_sub(n_given)) {
                is_heard[before] = true;
                level[node] = level[node].max(level[before] + 1);
            }
        }
        let mut order: Vec<u32> = (0..n_rows as u32).collect();
        order.sort_by_key(|&node| (level[node as usize], !is_heard[node as usize]));
        let (mut rows, mut tellers) = (vec![0; n_rows], vec![u32::MAX; n_rows]);
        let (mut levels, mut n_tellers): (Vec<WalkLevel>, usize) = (Vec::new(), n_given);
        for (row, &node) in order.iter().enumerate() {
            let node = node as usize;
            rows[node] = row as u32;
            if levels.len() == level[node] as usize {
                levels.push(WalkLevel { first: row, n_rows: 0, first_teller: n_tellers, n_tellers: 0 });
            }
            let span = levels.last_mut().expect("pushed with the first row of the level");
            span.n_rows += 1;
            if is_heard[node] {
                tellers[node] = n_tellers as u32;
                span.n_tellers += 1;
                n_tellers += 1;
            }
        }
        let teller = |&source: &u32| match (source as usize).checked_sub(n_given) {
            Some(node) => tellers[node],
            None => source,
        };
        let mut heard = Csr::with_capacity(n_rows, self.sources.n_items());
        order.iter().for_each(|&node| {
            heard.push_row(self.sources.row(node as usize).iter().map(teller));
        });
        let hearers = turned(&heard, n_tellers);
        (Arc::new(WalkLists { n_given, levels, heard, hearers }), rows)
    }
}

/// For each of `count` items, the rows that hold it and its place among all items.
fn turned(rows: &Csr<u32>, count: usize) -> Csr<[u32; 2]> {
    let mut ends = vec![0_u32; count + 1];
    rows.items().iter().for_each(|&item| ends[item as usize + 1] += 1);
    (0..count).for_each(|item| ends[item + 1] += ends[item]);
    let (mut places, mut found) = (ends.clone(), vec![[0; 2]; rows.n_items()]);
    for row in 0..rows.n_rows() {
        for (edge, &item) in rows.range(row).zip(rows.row(row)) {
            let place = &mut places[item as usize];
            found[*place as usize] = [row as u32, edge as u32];
            *place += 1;
        }
    }
    Csr::from_parts(ends, found)
}

#[cfg(test)]
mod tests {
    use super::{WalkBuilder, WalkLevel};

    /// Given tellers 0 and 1; nodes 2 to 6, of which 4 and 6 are heard by nobody.
    #[test]
    fn rows_go_by_level_and_tellers_first() {
        let mut builder = WalkBuilder::new(2);
        let sources: [&[u32]; 5] = [&[0], &[], &[2, 1], &[2, 3], &[5]];
        let numbers: Vec<u32> = sources.iter().map(|sources| builder.push(sources.iter().copied())).collect();
        assert_eq!(numbers, [2, 3, 4, 5, 6]);
        let (lists, rows) = builder.finish();
        assert_eq!(rows, [0, 1, 3, 2, 4]);
        let level = |first, n_rows, first_teller, n_tellers| WalkLevel { first, n_rows, first_teller, n_tellers };
        assert_eq!(lists.levels(), [level(0, 2, 2, 2), level(2, 2, 4, 1), level(4, 1, 5, 0)]);
        assert_eq!(lists.heard().rows().collect::<Vec<_>>(), [&[0][..], &[], &[2, 3], &[2, 1], &[4]]);
        assert_eq!(lists.told_rows().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!((lists.n_rows(), lists.n_given(), lists.n_told()), (5, 2, 3));
        let hearers: Vec<Vec<u32>> =
            lists.hearers.rows().map(|row| row.iter().map(|&[row, _]| row).collect()).collect();
        assert_eq!(hearers, [vec![0], vec![3], vec![2, 3], vec![2], vec![4]]);
        for [row, edge] in lists.hearers.items() {
            assert!(lists.heard.range(*row as usize).contains(&(*edge as usize)));
        }
    }
}
