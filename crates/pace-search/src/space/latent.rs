//! [`Latent`]: the latent space of a generative model, searched by sampling and decoded back to graphs.

use std::collections::{HashMap, HashSet};

use faer::{Mat, MatRef};
use pace_graph::{Dag, GraphKey};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use super::{Criterion, Embedded, Space, Taken};
use crate::Matrix;
use crate::candidate::{Candidate, Origin};
use crate::error::Error;

/// A batch is filled up with no fewer vectors than that at a time.
const MIN_REFILL: usize = 8;

/// The way back from vectors to graphs. A closure of this shape will do.
pub trait Decode: Sync {
    /// Several decodings of each row of x [N, D], drawn by `seed`; none where a draw is not a valid graph.
    fn decode(&self, x: MatRef<'_, f64>, seed: u64) -> Vec<Vec<Option<Dag>>>;
}

impl<F: Fn(MatRef<'_, f64>, u64) -> Vec<Vec<Option<Dag>>> + Sync> Decode for F {
    fn decode(&self, x: MatRef<'_, f64>, seed: u64) -> Vec<Vec<Option<Dag>>> {
        self(x, seed)
    }
}

/// How hard to search for the best vector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatentConfig {
    /// Vectors drawn uniformly in the box.
    pub n_uniform: usize,
    /// Vectors drawn around the best ones so far.
    pub n_around: usize,
    /// Spread of those, relative to the width of the box.
    pub spread: f64,
    /// Rounds of improving a chosen vector; 0 takes it as drawn.
    pub n_refinements: usize,
    /// Steps tried in each.
    pub n_steps: usize,
    /// How often a batch is filled up again after decodings that were invalid or known.
    pub n_refills: usize,
}

impl Default for LatentConfig {
    /// The reference draws 10,000 vectors in the box and refines by L-BFGS-B.
    fn default() -> LatentConfig {
        LatentConfig { n_uniform: 10_000, n_around: 2_000, spread: 0.1, n_refinements: 10, n_steps: 64, n_refills: 10 }
    }
}

/// A box around training latents, and a decoder.
///
/// A vector stands for the most frequent valid graph among its decodings. (The reference means to do the same, but takes
/// the first valid one; and it scores a vector without valid decodings by the worst score in the data, where it is dropped
/// here.) Graphs that are isomorphic to anything known are dropped, too.
pub struct Latent<'a> {
    config: LatentConfig,
    decoder: &'a dyn Decode,
    low: Vec<f64>,
    high: Vec<f64>,
    known: HashSet<GraphKey>,
}

impl<'a> Latent<'a> {
    /// The box of per-dimension minima and maxima of `train` [N, D].
    pub fn new(config: LatentConfig, train: MatRef<'_, f64>, decoder: &'a dyn Decode) -> Result<Latent<'a>, Error> {
        let (rows, columns) = train.shape();
        if rows == 0 || columns == 0 {
            return Err(Error::EmptyInput { rows, columns });
        }
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let value = train[(row, column)];
            if !value.is_finite() {
                return Err(Error::BadVector { row, column, value });
            }
        }
        let bound = |pick: fn(f64, f64) -> f64, start| {
            train.col_iter().map(|column| column.iter().copied().fold(start, pick)).collect::<Vec<f64>>()
        };
        let (low, high) = (bound(f64::min, f64::INFINITY), bound(f64::max, f64::NEG_INFINITY));
        Ok(Latent { config, decoder, low, high, known: HashSet::new() })
    }

    /// Also drops these graphs, e.g. those the model was trained on, whose scores are known.
    pub fn avoiding<'d>(mut self, dags: impl IntoIterator<Item = &'d Dag>) -> Latent<'a> {
        self.known.extend(dags.into_iter().map(GraphKey::of));
        self
    }

    pub(super) fn config(&self) -> &LatentConfig {
        &self.config
    }

    /// What vectors are decoded to, known or not.
    pub(super) fn graphs(&self, x: MatRef<'_, f64>, rng: &mut dyn Rng) -> Vec<Dag> {
        self.decoder.decode(x, rng.next_u64()).into_iter().filter_map(most_frequent).collect()
    }

    /// The most promising of many vectors of the box.
    pub(super) fn best_uniform(&self, criterion: &dyn Criterion, rng: &mut dyn Rng) -> Matrix {
        Shortlist::of(self.uniform(self.config.n_uniform, rng), criterion).vectors
    }

    pub(super) fn uniform(&self, n: usize, rng: &mut dyn Rng) -> Matrix {
        let width = |column: usize| self.high[column] - self.low[column];
        Mat::from_fn(n, self.low.len(), |_, column| self.low[column] + width(column) * rng.random::<f64>())
    }

    /// `n` vectors around rows of `centres`, in turn, inside the box.
    pub(super) fn around(&self, centres: MatRef<'_, f64>, spread: f64, n: usize, rng: &mut dyn Rng) -> Matrix {
        Mat::from_fn(n, self.low.len(), |row, column| {
            let step: f64 = StandardNormal.sample(rng);
            let width = self.high[column] - self.low[column];
            let value = centres[(row % centres.nrows(), column)] + spread * width * step;
            value.clamp(self.low[column], self.high[column])
        })
    }

    /// Random steps of shrinking length, uphill only.
    fn refine(&self, start: Vec<f64>, criterion: &dyn Criterion, rng: &mut dyn Rng) -> Vec<f64> {
        let row = |point: &[f64]| Mat::from_fn(1, point.len(), |_, column| point[column]);
        let (mut point, mut spread) = (start, self.config.spread);
        let mut best = criterion.score(row(&point).as_ref())[0];
        for _ in 0..self.config.n_refinements {
            let steps = self.around(row(&point).as_ref(), spread, self.config.n_steps, rng);
            match highest(&criterion.score(steps.as_ref())) {
                Some((index, score)) if score > best => (point, best) = (to_vec(&steps, index), score),
                _ => spread *= 0.5,
            }
        }
        point
    }

    /// The graphs of vectors, without what is invalid, known or taken.
    pub(super) fn decode(
        &self,
        x: &Matrix,
        taken: &mut Taken<'_>,
        origin: Origin,
        rng: &mut dyn Rng,
    ) -> Vec<Candidate> {
        let decoded = self.decoder.decode(x.as_ref(), rng.next_u64());
        assert_eq!(decoded.len(), x.nrows(), "a decoder answers for each vector");
        let mut found = Vec::new();
        for (row, decodings) in decoded.into_iter().enumerate() {
            let Some(dag) = most_frequent(decodings) else { continue };
            let candidate = Candidate::decoded(dag, to_vec(x, row), origin);
            if !self.known.contains(&candidate.key()) && taken.insert(&candidate) {
                found.push(candidate);
            }
        }
        found
    }
}

/// The most frequent class among valid decodings, as it came first; the earliest of several.
fn most_frequent(decodings: Vec<Option<Dag>>) -> Option<Dag> {
    let mut classes: HashMap<GraphKey, (usize, usize)> = HashMap::new();
    for (index, dag) in decodings.iter().enumerate() {
        if let Some(dag) = dag {
            classes.entry(GraphKey::of(dag)).or_insert((0, index)).0 += 1;
        }
    }
    let (_, first) = classes.into_values().max_by_key(|&(count, first)| (count, std::cmp::Reverse(first)))?;
    decodings.into_iter().nth(first).flatten()
}

fn to_vec(x: &Matrix, row: usize) -> Vec<f64> {
    x.row(row).iter().copied().collect()
}

/// The first of the highest scores; what is no number never wins.
fn highest(scores: &[f64]) -> Option<(usize, f64)> {
    let scores = scores.iter().copied().enumerate().filter(|(_, score)| !score.is_nan());
    scores.rev().max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The best of the drawn vectors, from which a batch is chosen one by one.
struct Shortlist {
    vectors: Matrix,
    scores: Vec<f64>,
    is_used: Vec<bool>,
}

impl Shortlist {
    const MAX: usize = 1000;

    fn of(drawn: Matrix, criterion: &dyn Criterion) -> Shortlist {
        let scores = criterion.score(drawn.as_ref());
        let mut rows: Vec<usize> = (0..scores.len()).filter(|&row| !scores[row].is_nan()).collect();
        rows.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        rows.truncate(Shortlist::MAX);
        let vectors = Mat::from_fn(rows.len(), drawn.ncols(), |row, column| drawn[(rows[row], column)]);
        let scores = rows.iter().map(|&row| scores[row]).collect();
        Shortlist { vectors, scores, is_used: vec![false; rows.len()] }
    }

    fn take_best(&mut self) -> Option<Vec<f64>> {
        let unused = self.scores.iter().zip(&self.is_used).map(|(&score, &used)| if used { f64::NAN } else { score });
        let (best, _) = highest(&unused.collect::<Vec<f64>>())?;
        self.is_used[best] = true;
        Some(to_vec(&self.vectors, best))
    }

    fn rescore(&mut self, criterion: &dyn Criterion) {
        self.scores = criterion.score(self.vectors.as_ref());
    }
}

impl Space for Latent<'_> {
    fn sample(&self, n: usize, taken: &Taken<'_>, rng: &mut dyn Rng) -> Vec<Candidate> {
        let (mut taken, mut found) = (taken.clone(), Vec::new());
        for _ in 0..=self.config.n_refills {
            if found.len() < n {
                let x = self.uniform(n - found.len(), rng);
                found.extend(self.decode(&x, &mut taken, Origin::Random, rng));
            }
        }
        found
    }

    /// None: without an encoder a graph has no vector.
    fn admit(&self, _dag: Dag) -> Option<Candidate> {
        None
    }
}

impl Embedded for Latent<'_> {
    fn vectors(&self, candidates: &[&Candidate]) -> Result<Matrix, Error> {
        let vector = |candidate: &&Candidate| {
            let vector = candidate.vector.clone().filter(|vector| vector.len() == self.low.len());
            vector.ok_or_else(|| Error::Stranger { dag: candidate.dag.to_string(), missing: "no vector of this space" })
        };
        let rows = candidates.iter().map(vector).collect::<Result<Vec<Vec<f64>>, Error>>()?;
        Ok(Mat::from_fn(rows.len(), self.low.len(), |row, column| rows[row][column]))
    }

    fn propose(
        &self,
        n: usize,
        taken: &Taken<'_>,
        near: MatRef<'_, f64>,
        criterion: &mut dyn Criterion,
        rng: &mut dyn Rng,
    ) -> Result<Vec<Candidate>, Error> {
        let uniform = self.uniform(self.config.n_uniform, rng);
        let n_around = if near.nrows() == 0 { 0 } else { self.config.n_around };
        let around = self.around(near, self.config.spread, n_around, rng);
        let n_uniform = uniform.nrows();
        let drawn = Mat::from_fn(n_uniform + n_around, self.low.len(), |row, column| {
            if row < n_uniform { uniform[(row, column)] } else { around[(row - n_uniform, column)] }
        });
        let mut shortlist = Shortlist::of(drawn, criterion);
        let (mut taken, mut found) = (taken.clone(), Vec::new());
        for pass in 0..=self.config.n_refills {
            // A whole batch is chosen before it is decoded: decoders are fast on many vectors. Refined vectors may all lead
            // to the top of one hill, where everything is known; so what is missing is filled up with vectors as drawn,
            // more of them each time.
            let n_missing = n.saturating_sub(found.len());
            let n_wanted = match pass {
                0 => n_missing,
                _ if n_missing == 0 => break,
                _ => n_missing.max(MIN_REFILL) * pass,
            };
            let mut chosen = Vec::new();
            while chosen.len() < n_wanted {
                let Some(mut point) = shortlist.take_best() else { break };
                if pass == 0 {
                    point = self.refine(point, &*criterion, rng);
                    if criterion.imagine(&point) {
                        shortlist.rescore(criterion);
                    }
                }
                chosen.push(point);
            }
            if chosen.is_empty() {
                break;
            }
            let x = Mat::from_fn(chosen.len(), self.low.len(), |row, column| chosen[row][column]);
            found.extend(self.decode(&x, &mut taken, Origin::Acquisition, rng));
        }
        found.truncate(n);
        Ok(found)
    }

    /// None: there is always a closer one.
    fn nearest(&self, _of: &Candidate, _n: usize, _taken: &Taken<'_>) -> Result<Vec<Candidate>, Error> {
        Ok(Vec::new())
    }
}
