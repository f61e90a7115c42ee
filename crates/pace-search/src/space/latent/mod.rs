//! [`Latent`]: the latent space of a generative model. It is searched by sampling, and vectors are decoded to graphs.

use std::collections::HashSet;

use faer::{Mat, MatRef};
use pace_graph::{Dag, GraphKey};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use super::{Criterion, Embedded, Space, Taken};
use crate::Matrix;
use crate::candidate::{Candidate, Origin};
use crate::check::check_vectors;
use crate::error::Error;
use crate::numerics::rows::to_vec;

mod decode;
mod shortlist;

pub use decode::Decode;

use decode::most_frequent;
use shortlist::{Shortlist, highest};

/// The smallest number of vectors by which a batch is filled up.
const MIN_REFILL: usize = 8;

/// The effort of a search for the best vector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatentConfig {
    /// The number of vectors drawn uniformly in the box.
    pub n_uniform: usize,
    /// The number of vectors drawn around the best ones so far.
    pub n_around: usize,
    /// The standard deviation of the steps to these, relative to the width of the box.
    pub spread: f64,
    /// Rounds of refinement of a chosen vector; 0 takes it as drawn.
    pub n_refinements: usize,
    /// Steps tried in each round of refinement.
    pub n_steps: usize,
    /// How often a batch is filled up after some decodings were invalid or known.
    pub n_refills: usize,
}

impl Default for LatentConfig {
    /// The reference draws 10,000 vectors in the box and refines by L-BFGS-B.
    fn default() -> LatentConfig {
        LatentConfig { n_uniform: 10_000, n_around: 2_000, spread: 0.1, n_refinements: 10, n_steps: 64, n_refills: 10 }
    }
}

/// A box around the latent vectors of the training graphs, and a decoder.
///
/// A vector is decoded several times, and stands for the most frequent valid graph. Vectors without a valid decoding are
/// dropped, and so are graphs that are isomorphic to known ones. The reference code intends the same, but takes the first
/// valid graph, and gives a vector without a valid decoding the worst score in the data.
pub struct Latent<'a> {
    config: LatentConfig,
    decoder: &'a dyn Decode,
    low: Vec<f64>,
    high: Vec<f64>,
    known: HashSet<GraphKey>,
}

impl<'a> Latent<'a> {
    /// The box between the minima and the maxima of the columns of `train` [N, D].
    pub fn new(config: LatentConfig, train: MatRef<'_, f64>, decoder: &'a dyn Decode) -> Result<Latent<'a>, Error> {
        check_vectors(train)?;
        let bound = |pick: fn(f64, f64) -> f64, start| {
            train.col_iter().map(|column| column.iter().copied().fold(start, pick)).collect::<Vec<f64>>()
        };
        let (low, high) = (bound(f64::min, f64::INFINITY), bound(f64::max, f64::NEG_INFINITY));
        Ok(Latent { config, decoder, low, high, known: HashSet::new() })
    }

    /// Also drops these graphs, e.g. the training graphs, whose scores are known.
    pub fn avoiding<'d>(mut self, dags: impl IntoIterator<Item = &'d Dag>) -> Latent<'a> {
        self.known.extend(dags.into_iter().map(GraphKey::of));
        self
    }

    pub(super) fn config(&self) -> &LatentConfig {
        &self.config
    }

    /// The graphs of vectors, known or not.
    pub(super) fn graphs(&self, x: MatRef<'_, f64>, rng: &mut dyn Rng) -> Vec<Dag> {
        self.decoder.decode(x, rng.next_u64()).into_iter().filter_map(most_frequent).collect()
    }

    /// The best of many uniform vectors, by the criterion.
    pub(super) fn best_uniform(&self, criterion: &dyn Criterion, rng: &mut dyn Rng) -> Matrix {
        Shortlist::of(self.uniform(self.config.n_uniform, rng), criterion).vectors
    }

    pub(super) fn uniform(&self, n: usize, rng: &mut dyn Rng) -> Matrix {
        let width = |column: usize| self.high[column] - self.low[column];
        Mat::from_fn(n, self.low.len(), |_, column| self.low[column] + width(column) * rng.random::<f64>())
    }

    /// `n` vectors inside the box, around the rows of `centres` in turn.
    pub(super) fn around(&self, centres: MatRef<'_, f64>, spread: f64, n: usize, rng: &mut dyn Rng) -> Matrix {
        Mat::from_fn(n, self.low.len(), |row, column| {
            let step: f64 = StandardNormal.sample(rng);
            let width = self.high[column] - self.low[column];
            let value = centres[(row % centres.nrows(), column)] + spread * width * step;
            value.clamp(self.low[column], self.high[column])
        })
    }

    /// Takes random steps of shrinking length, each only if it raises the score.
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

    /// The graphs of vectors, without those that are invalid, known or taken.
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

    /// Always `None`: without an encoder a graph has no vector.
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
            // A whole batch is chosen before it is decoded: decoders are fast on many vectors. Refined vectors may all end at
            // one maximum, around which all graphs are known. So a batch is filled up with vectors as drawn, more of them
            // each time.
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

    /// Always empty: in a continuous space no vector is the nearest.
    fn nearest(&self, _of: &Candidate, _n: usize, _taken: &Taken<'_>) -> Result<Vec<Candidate>, Error> {
        Ok(Vec::new())
    }
}
