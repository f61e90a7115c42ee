//! [`RoundTrip`]: a latent space whose candidates have the vectors to which their graphs are encoded.

use faer::{Mat, MatRef};
use pace_graph::Dag;
use pace_graph::enumerate::Mutate;
use rand::{Rng, RngExt};

use super::{Criterion, Embedded, Latent, Space, Taken};
use crate::Matrix;
use crate::candidate::{Candidate, Origin};
use crate::error::Error;

/// An encoder from graphs to vectors. Closures implement it.
pub trait Encode: Sync {
    /// The vectors of graphs, [dags, D].
    fn encode(&self, dags: &[Dag]) -> Matrix;
}

impl<F: Fn(&[Dag]) -> Matrix + Sync> Encode for F {
    fn encode(&self, dags: &[Dag]) -> Matrix {
        self(dags)
    }
}

/// Draws vectors as [`Latent`] does, decodes them, encodes the graphs again, and chooses among these by their own vectors.
///
/// Most vectors of the box belong to no graph. The decoder maps them to graphs whose own vectors may be far away, so the
/// acquisition at the drawn vector says little about the graph. Here the acquisition is computed at the vector of the graph.
/// The surrogate learns from that vector, too.
pub struct RoundTrip<'a> {
    latent: Latent<'a>,
    encoder: &'a dyn Encode,
    edits: Option<&'a dyn Mutate>,
}

/// Steps around a good vector have these multiples of the configured spread. Which of them changes a graph a little depends
/// on the model.
const SPREADS: [f64; 4] = [0.1, 0.3, 1.0, 3.0];

impl<'a> RoundTrip<'a> {
    /// A latent space and its encoder. The refinement settings of `latent` are not used.
    pub fn new(latent: Latent<'a>, encoder: &'a dyn Encode) -> RoundTrip<'a> {
        RoundTrip { latent, encoder, edits: None }
    }

    /// Also considers the graphs one edit away from the best so far, and random ones two edits away. A better graph may differ
    /// in one edge only, and a step in the latent space may miss it.
    pub fn with_edits(self, edits: &'a dyn Mutate) -> RoundTrip<'a> {
        RoundTrip { edits: Some(edits), ..self }
    }

    /// The edited graphs of the graphs with these vectors.
    fn edited(&self, near: MatRef<'_, f64>, taken: &mut Taken<'_>, rng: &mut dyn Rng) -> Vec<Candidate> {
        let Some(edits) = self.edits.filter(|_| near.nrows() > 0) else { return Vec::new() };
        let centres = self.latent.graphs(near, rng);
        let once: Vec<Dag> = centres.iter().flat_map(|dag| edits.neighbours(dag)).collect();
        let twice = (0..once.len()).map(|_| edits.mutate(&once[rng.random_range(0..once.len())], rng));
        let twice: Vec<Dag> = twice.collect();
        let fresh = once.into_iter().chain(twice).map(|dag| Candidate::new(dag, Origin::Acquisition));
        self.placed(fresh.filter(|candidate| taken.insert(candidate)).collect())
    }

    /// Decodes vectors to candidates with the vectors of their graphs.
    fn candidates(&self, x: &Matrix, taken: &mut Taken<'_>, origin: Origin, rng: &mut dyn Rng) -> Vec<Candidate> {
        self.placed(self.latent.decode(x, taken, origin, rng))
    }

    fn placed(&self, mut found: Vec<Candidate>) -> Vec<Candidate> {
        if found.is_empty() {
            return found;
        }
        let dags: Vec<Dag> = found.iter().map(|candidate| candidate.dag.clone()).collect();
        let vectors = self.encoder.encode(&dags);
        assert_eq!(vectors.nrows(), dags.len(), "an encoder gives each graph a vector");
        for (candidate, vector) in found.iter_mut().zip(vectors.row_iter()) {
            candidate.vector = Some(vector.iter().copied().collect());
        }
        found
    }
}

impl Space for RoundTrip<'_> {
    fn sample(&self, n: usize, taken: &Taken<'_>, rng: &mut dyn Rng) -> Vec<Candidate> {
        let (mut taken, mut found) = (taken.clone(), Vec::new());
        for _ in 0..=self.latent.config().n_refills {
            if found.len() < n {
                let x = self.latent.uniform(n - found.len(), rng);
                found.extend(self.candidates(&x, &mut taken, Origin::Random, rng));
            }
        }
        found
    }

    fn admit(&self, dag: Dag) -> Option<Candidate> {
        let vector = self.encoder.encode(std::slice::from_ref(&dag));
        let vector: Vec<f64> = vector.row(0).iter().copied().collect();
        Some(Candidate::decoded(dag, vector, Origin::Mutation))
    }
}

impl Embedded for RoundTrip<'_> {
    fn vectors(&self, candidates: &[&Candidate]) -> Result<Matrix, Error> {
        self.latent.vectors(candidates)
    }

    fn propose(
        &self,
        n: usize,
        taken: &Taken<'_>,
        near: MatRef<'_, f64>,
        criterion: &mut dyn Criterion,
        rng: &mut dyn Rng,
    ) -> Result<Vec<Candidate>, Error> {
        let config = self.latent.config();
        let mut drawn = vec![self.latent.best_uniform(criterion, rng)];
        if near.nrows() > 0 {
            for spread in SPREADS {
                let n_around = config.n_around / SPREADS.len();
                drawn.push(self.latent.around(near, spread * config.spread, n_around, rng));
            }
        }
        let mut pool = Vec::new();
        let mut seen = taken.clone();
        for x in &drawn {
            pool.extend(self.candidates(x, &mut seen, Origin::Acquisition, rng));
        }
        pool.extend(self.edited(near, &mut seen, rng));
        let mut found = Vec::with_capacity(n);
        let mut scores = self.scores(&pool, criterion)?;
        while found.len() < n && !pool.is_empty() {
            // Ties, e.g. if no candidate promises anything, are broken at random instead of by the order of the draws.
            let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let ties: Vec<usize> = (0..pool.len()).filter(|&row| scores[row] >= best || best.is_nan()).collect();
            let row = if ties.is_empty() { 0 } else { ties[rng.random_range(0..ties.len())] };
            let chosen = pool.swap_remove(row);
            scores.swap_remove(row);
            if criterion.imagine(chosen.vector.as_deref().unwrap_or_default()) {
                scores = self.scores(&pool, criterion)?;
            }
            found.push(chosen);
        }
        Ok(found)
    }

    /// Chooses among the graphs one edit away; empty without edits.
    fn nearest(&self, of: &Candidate, n: usize, taken: &Taken<'_>) -> Result<Vec<Candidate>, Error> {
        let Some(edits) = self.edits else { return Ok(Vec::new()) };
        let mut taken = taken.clone();
        let fresh = edits.neighbours(&of.dag).into_iter().map(|dag| Candidate::new(dag, Origin::Neighbour));
        let mut found = self.placed(fresh.filter(|candidate| taken.insert(candidate)).collect());
        let centre = self.vectors(&[of])?;
        let distance = |candidate: &Candidate| -> f64 {
            let vector = candidate.vector.as_deref().unwrap_or_default();
            vector.iter().zip(centre.row(0).iter()).map(|(a, b)| (a - b).powi(2)).sum()
        };
        found.sort_by_cached_key(|candidate| distance(candidate).to_bits());
        found.truncate(n);
        Ok(found)
    }
}

impl RoundTrip<'_> {
    fn scores(&self, pool: &[Candidate], criterion: &dyn Criterion) -> Result<Vec<f64>, Error> {
        if pool.is_empty() {
            return Ok(Vec::new());
        }
        let vectors = self.vectors(&pool.iter().collect::<Vec<_>>())?;
        let scores = criterion.score(Mat::as_ref(&vectors));
        Ok(scores.into_iter().map(|score| if score.is_nan() { f64::NEG_INFINITY } else { score }).collect())
    }
}
