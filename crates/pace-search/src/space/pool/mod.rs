//! [`Pool`]: a list of graphs with their vectors, one row each.

use std::cmp::Ordering;

use faer::MatRef;
use pace_graph::{Dag, Vectors};
use rand::{Rng, RngExt, seq::SliceRandom};
use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use rayon::slice::ParallelSlice;

use super::{Criterion, Embedded, Space, Taken};
use crate::candidate::{Candidate, Origin};
use crate::error::Error;
use crate::matrix::{Matrix, as_matrix, widen};

mod graphs;

pub use graphs::{Graphs, Listed};

/// The best rows, among which a batch is chosen one by one. The others are too far behind to be worth another look.
const SHORTLIST: usize = 1000;
/// Rows per task.
const CHUNK: usize = 8192;
const LANES: usize = 8;

/// Graphs with their vectors in single precision: 423,624 cells in 64 dimensions take 108 MB.
///
/// A proposal scores every row and selects the best in O(N). The nearest neighbours take one pass over the matrix, on all
/// cores. Results do not depend on the number of threads: ties go to the lower row.
pub struct Pool<'a> {
    graphs: &'a dyn Graphs,
    vectors: Vectors,
}

impl<'a> Pool<'a> {
    /// A pool of these graphs with their vectors [N, D].
    pub fn new(graphs: &'a dyn Graphs, vectors: Vectors) -> Result<Pool<'a>, Error> {
        let rows = graphs.n_graphs();
        if rows == 0 {
            return Err(Error::EmptyInput { rows, columns: vectors.width() });
        }
        if vectors.len() != rows {
            return Err(Error::TargetCount { rows: vectors.len(), targets: rows });
        }
        if let Some(bad) = vectors.values().iter().position(|value| !value.is_finite()) {
            let (row, column) = (bad / vectors.width(), bad % vectors.width());
            return Err(Error::BadVector { row, column, value: f64::from(vectors.values()[bad]) });
        }
        Ok(Pool { graphs, vectors })
    }

    /// The number of rows.
    #[expect(clippy::len_without_is_empty, reason = "a pool is never empty")]
    pub fn len(&self) -> usize {
        self.graphs.n_graphs()
    }

    /// All vectors [N, D].
    pub fn matrix(&self) -> MatRef<'_, f32> {
        as_matrix(&self.vectors)
    }

    /// The vector of a row `[D]`.
    pub fn row(&self, place: usize) -> &[f32] {
        self.vectors.row(place)
    }

    /// A row as a candidate.
    pub fn candidate(&self, place: usize, origin: Origin) -> Candidate {
        Candidate::at(self.graphs.dag(place), place, origin)
    }

    /// The row of a candidate.
    fn place(&self, candidate: &Candidate) -> Result<usize, Error> {
        let place = candidate.place.filter(|&place| place < self.len());
        place.ok_or_else(|| Error::Stranger { dag: candidate.dag.to_string(), missing: "no row in this pool" })
    }

    fn gather(&self, places: &[usize]) -> Matrix {
        widen(&self.vectors.select(places))
    }

    /// The `n` untried rows with the highest scores, best first.
    fn best_rows(&self, n: usize, taken: &Taken<'_>, scores: &[f64]) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.len()).filter(|&row| !taken.contains_place(row)).collect();
        let order = |a: &usize, b: &usize| descending(scores[*a], scores[*b]).then(a.cmp(b));
        if n < rows.len() {
            rows.select_nth_unstable_by(n, order);
            rows.truncate(n);
        }
        rows.sort_unstable_by(order);
        rows
    }
}

/// Higher first, NaN last.
fn descending(a: f64, b: f64) -> Ordering {
    let rank = |score: f64| if score.is_nan() { f64::NEG_INFINITY } else { score };
    rank(b).total_cmp(&rank(a))
}

impl Space for Pool<'_> {
    fn sample(&self, n: usize, taken: &Taken<'_>, rng: &mut dyn Rng) -> Vec<Candidate> {
        let (mut taken, mut found) = (taken.clone(), Vec::new());
        // Drawing again is cheap until most rows are taken. Then the remaining rows are listed.
        for _ in 0..4 * n {
            if found.len() == n {
                break;
            }
            let candidate = self.candidate(rng.random_range(0..self.len()), Origin::Random);
            if taken.insert(&candidate) {
                found.push(candidate);
            }
        }
        if found.len() < n {
            let mut rest: Vec<usize> = (0..self.len()).filter(|&place| !taken.contains_place(place)).collect();
            rest.shuffle(rng);
            let rest = rest.into_iter().map(|place| self.candidate(place, Origin::Random));
            found.extend(rest.filter(|candidate| taken.insert(candidate)).take(n - found.len()));
        }
        found
    }

    fn admit(&self, dag: Dag) -> Option<Candidate> {
        let place = self.graphs.place(&dag)?;
        Some(Candidate::at(dag, place, Origin::Mutation))
    }
}

impl Embedded for Pool<'_> {
    fn vectors(&self, candidates: &[&Candidate]) -> Result<Matrix, Error> {
        let places = candidates.iter().map(|candidate| self.place(candidate));
        Ok(self.gather(&places.collect::<Result<Vec<usize>, Error>>()?))
    }

    fn propose(
        &self,
        n: usize,
        taken: &Taken<'_>,
        _near: MatRef<'_, f64>,
        criterion: &mut dyn Criterion,
        _rng: &mut dyn Rng,
    ) -> Result<Vec<Candidate>, Error> {
        let scores = criterion.score_f32(self.matrix());
        // More than asked for, in case some rows are isomorphic to taken graphs.
        let mut rows = self.best_rows(n.max(SHORTLIST) + taken.len(), taken, &scores);
        if taken.n_known() > 0 {
            // Known graphs are often the best of all, and would crowd the others out of the shortlist.
            rows.retain(|&row| !taken.contains(&self.candidate(row, Origin::Acquisition).key()));
        }
        let (mut taken, mut found) = (taken.clone(), Vec::new());
        let mut scores: Vec<f64> = rows.iter().map(|&row| scores[row]).collect();
        while found.len() < n {
            let order = |a: &usize, b: &usize| descending(scores[*a], scores[*b]).then(rows[*a].cmp(&rows[*b]));
            let Some(best) = (0..rows.len()).min_by(order) else { break };
            let (place, _) = (rows.remove(best), scores.remove(best));
            let candidate = self.candidate(place, Origin::Acquisition);
            if !taken.insert(&candidate) {
                continue;
            }
            found.push(candidate);
            if found.len() < n
                && criterion.imagine(&self.row(place).iter().map(|&value| f64::from(value)).collect::<Vec<f64>>())
            {
                rows.truncate(SHORTLIST);
                scores = criterion.score(self.gather(&rows).as_ref());
            }
        }
        Ok(found)
    }

    fn nearest(&self, of: &Candidate, n: usize, taken: &Taken<'_>) -> Result<Vec<Candidate>, Error> {
        let (target, n_dims) = (self.row(self.place(of)?), self.vectors.width());
        let least_rows = |n_rows: usize| {
            let closest = |(chunk, rows): (usize, &[f32])| {
                let rows = rows.chunks_exact(n_dims).enumerate();
                let rows = rows.map(|(row, vector)| (squared_distance(vector, target), chunk * CHUNK + row));
                least(rows.filter(|&(_, row)| !taken.contains_place(row)).collect(), n_rows)
            };
            least(self.vectors.values().par_chunks(CHUNK * n_dims).enumerate().flat_map_iter(closest).collect(), n_rows)
        };
        let mut n_rows = n;
        loop {
            let mut taken = taken.clone();
            let rows = least_rows(n_rows).into_iter().map(|(_, place)| self.candidate(place, Origin::Neighbour));
            let found: Vec<Candidate> = rows.filter(|candidate| taken.insert(candidate)).take(n).collect();
            if found.len() == n || n_rows >= self.len() {
                return Ok(found);
            }
            // Some rows are isomorphic to taken graphs, or to one another.
            n_rows = 2 * n_rows + 1;
        }
    }
}

/// The `n` rows with the smallest distances, in order.
fn least(mut rows: Vec<(f32, usize)>, n: usize) -> Vec<(f32, usize)> {
    if n < rows.len() {
        rows.select_nth_unstable_by(n, by_distance);
        rows.truncate(n);
    }
    rows.sort_unstable_by(by_distance);
    rows
}

fn by_distance(a: &(f32, usize), b: &(f32, usize)) -> Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// |a - b|^2, in several partial sums so that the compiler can vectorise it.
fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| (a - b) * (a - b)).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..LANES {
            sums[lane] += (a[lane] - b[lane]) * (a[lane] - b[lane]);
        }
    }
    sums.iter().sum::<f32>() + rest
}
