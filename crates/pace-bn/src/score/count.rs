//! [`Counter`]: potentials of sets of variables, by counting configurations.

use rayon::prelude::*;

use super::kind::ScoreKind;
use super::points::Points;
use crate::data::Table;

/// A dense table of counts has at most this many cells per distinct row. Beyond, keys are renumbered first.
const CELLS_PER_ROW: usize = 4;
/// Below this many cells a row may hit the cell of the row before it, so four tables of counts take turns.
const SMALL: usize = 1024;
/// The least number of cells that a dense table may have.
const FEW: usize = 4096;
/// Sets of one task: they share the keys of their first members.
const CHUNK: usize = 256;
/// n ln n is looked up below this count.
const TABLE: usize = 1 << 16;

/// Counts sets of variables in one table, for one score.
///
/// A set is a sorted list of variables. Rows get a key per configuration, in mixed radix: the key of a set is the key of all
/// but its last member, times the levels of the last, plus its level. Sets in lexicographic order reuse the keys of their
/// common beginning, so a set costs one pass over the distinct rows.
pub(crate) struct Counter<'a> {
    table: &'a Table,
    kind: ScoreKind,
    /// n ln n for small n, in units.
    entropy: Vec<Points>,
    /// Whether every distinct row occurs once.
    is_plain: bool,
}

/// The configuration of some variables in each distinct row, numbered below `n_keys`.
#[derive(Clone)]
struct Keys {
    keys: Vec<u32>,
    n_keys: usize,
}

/// What there is to know of a set of variables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Potential {
    /// Its share of the score.
    pub(crate) points: Points,
    /// How many of its configurations occur.
    pub(crate) n_cells: u32,
}

/// Counts that are used again, to save allocations.
#[derive(Default)]
struct Scratch {
    cells: Vec<u32>,
}

impl<'a> Counter<'a> {
    pub(crate) fn new(table: &'a Table, kind: ScoreKind) -> Counter<'a> {
        let n = if matches!(kind, ScoreKind::Bdeu { .. }) { 0 } else { TABLE.min(table.n_rows() + 1) };
        let entropy = (0..n).map(|count| Points::of(entropy(count as u32))).collect();
        Counter { table, kind, entropy, is_plain: table.weights().iter().all(|&weight| weight == 1) }
    }

    pub(crate) fn table(&self) -> &'a Table {
        self.table
    }

    /// The potential of each set, in parallel. The sets should be in lexicographic order.
    pub(crate) fn potentials(&self, sets: &[&[u16]]) -> Vec<Potential> {
        let chunks = sets.par_chunks(CHUNK).map(|chunk| self.chunk(chunk));
        chunks.flatten_iter().collect()
    }

    fn chunk(&self, sets: &[&[u16]]) -> Vec<Potential> {
        let mut path: Vec<(u16, Keys)> = Vec::new();
        let mut scratch = Scratch::default();
        let potential = |set: &&[u16]| {
            let Some((&last, first)) = set.split_last() else {
                return Potential { points: self.term(self.table.n_rows() as u32, 1.0), n_cells: 1 };
            };
            let common = path.iter().zip(first).take_while(|((known, _), wanted)| known == *wanted).count();
            path.truncate(common);
            for &variable in &first[common..] {
                let keys = self.refine(path.last().map(|(_, keys)| keys), variable);
                path.push((variable, keys));
            }
            self.potential_of(path.last().map(|(_, keys)| keys), last, self.n_configurations(set), &mut scratch)
        };
        sets.iter().map(potential).collect()
    }

    /// The number of configurations that the levels allow.
    pub(crate) fn n_configurations(&self, set: &[u16]) -> f64 {
        set.iter().map(|&variable| self.table.n_levels(variable.into()) as f64).product()
    }

    /// The term of one configuration.
    fn term(&self, count: u32, n_configurations: f64) -> Points {
        match self.kind {
            ScoreKind::Bdeu { sample_size } => {
                let prior = sample_size / n_configurations;
                Points::of(libm::lgamma(f64::from(count) + prior) - libm::lgamma(prior))
            }
            _ => match self.entropy.get(count as usize) {
                Some(&term) => term,
                None => Points::of(entropy(count)),
            },
        }
    }

    /// Keys of some variables and one more.
    fn refine(&self, keys: Option<&Keys>, variable: u16) -> Keys {
        let (column, n_levels) = (self.table.column(variable.into()), self.table.n_levels(variable.into()));
        let Some(known) = keys else {
            return Keys { keys: column.iter().map(|&level| level.into()).collect(), n_keys: n_levels };
        };
        let n_keys = known.n_keys as u64 * n_levels as u64;
        let key = |(&key, &level): (&u32, &u16)| u64::from(key) * n_levels as u64 + u64::from(level);
        if n_keys <= FEW.max(self.table.n_distinct()) as u64 {
            let keys = known.keys.iter().zip(column).map(|pair| key(pair) as u32).collect();
            return Keys { keys, n_keys: n_keys as usize };
        }
        renumbered(known.keys.iter().zip(column).map(key))
    }

    /// The potential of a set: the keys of all but the last member, and that.
    fn potential_of(&self, keys: Option<&Keys>, last: u16, n_configurations: f64, scratch: &mut Scratch) -> Potential {
        let (column, n_levels) = (self.table.column(last.into()), self.table.n_levels(last.into()));
        let n_cells = keys.map_or(1, |keys| keys.n_keys) as u64 * n_levels as u64;
        if n_cells > (FEW.max(CELLS_PER_ROW * self.table.n_distinct())) as u64 {
            let keys = self.refine(keys, last);
            scratch.zeroed(keys.n_keys);
            keys.keys.iter().zip(self.table.weights()).for_each(|(&key, weight)| scratch.cells[key as usize] += weight);
        } else {
            let none;
            let keys = match keys {
                Some(keys) => &keys.keys,
                None => {
                    none = vec![0; column.len()];
                    &none
                }
            };
            self.count(keys, column, n_levels as u32, n_cells as usize, scratch);
        }
        let counts = scratch.cells.iter().filter(|&&count| count > 0);
        let (mut points, mut n_cells) = (Points::ZERO, 0);
        counts.for_each(|&count| {
            points += self.term(count, n_configurations);
            n_cells += 1;
        });
        Potential { points, n_cells }
    }

    /// Counts the cells `key * n_levels + level`.
    fn count(&self, keys: &[u32], column: &[u16], n_levels: u32, n_cells: usize, scratch: &mut Scratch) {
        let cell = |key: u32, level: u16| (key * n_levels + u32::from(level)) as usize;
        let weights = self.table.weights();
        if n_cells > SMALL {
            scratch.zeroed(n_cells);
            let rows = keys.iter().zip(column).zip(weights);
            rows.for_each(|((&key, &level), weight)| scratch.cells[cell(key, level)] += weight);
            return;
        }
        // An addition to a cell waits for the one before it if that was to the same cell. Four tables make that rare.
        scratch.zeroed(4 * n_cells);
        let (a, rest) = scratch.cells.split_at_mut(n_cells);
        let (b, rest) = rest.split_at_mut(n_cells);
        let (c, d) = rest.split_at_mut(n_cells);
        let (key_blocks, column_blocks) = (keys.as_chunks::<4>(), column.as_chunks::<4>());
        if self.is_plain {
            for (key, level) in key_blocks.0.iter().zip(column_blocks.0) {
                a[cell(key[0], level[0])] += 1;
                b[cell(key[1], level[1])] += 1;
                c[cell(key[2], level[2])] += 1;
                d[cell(key[3], level[3])] += 1;
            }
        } else {
            for ((key, level), weight) in key_blocks.0.iter().zip(column_blocks.0).zip(weights.as_chunks::<4>().0) {
                a[cell(key[0], level[0])] += weight[0];
                b[cell(key[1], level[1])] += weight[1];
                c[cell(key[2], level[2])] += weight[2];
                d[cell(key[3], level[3])] += weight[3];
            }
        }
        let tail = key_blocks.1.iter().zip(column_blocks.1).zip(weights.as_chunks::<4>().1);
        tail.for_each(|((&key, &level), weight)| a[cell(key, level)] += weight);
        for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
            *a += *b + *c + *d;
        }
        scratch.cells.truncate(n_cells);
    }
}

impl Scratch {
    fn zeroed(&mut self, n_cells: usize) {
        self.cells.clear();
        self.cells.resize(n_cells, 0);
    }
}

/// Keys without gaps, for as many configurations as occur.
fn renumbered(keys: impl Iterator<Item = u64>) -> Keys {
    let mut rows: Vec<(u64, u32)> = keys.zip(0..).collect();
    rows.sort_unstable();
    let mut keys = vec![0; rows.len()];
    let mut n_keys = 0;
    for (index, &(key, row)) in rows.iter().enumerate() {
        n_keys += usize::from(index == 0 || rows[index - 1].0 != key);
        keys[row as usize] = n_keys as u32 - 1;
    }
    Keys { keys, n_keys }
}

/// n ln n, 0 for 0.
fn entropy(count: u32) -> f64 {
    if count == 0 { 0.0 } else { f64::from(count) * f64::from(count).ln() }
}
