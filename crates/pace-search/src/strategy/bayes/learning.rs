//! What both loops share: from answered queries to a belief.

use faer::Mat;
use rand::Rng;

use super::belief::Belief;
use super::phase::Phase;
use super::{BayesianOptimisation, Warp};
use crate::Matrix;
use crate::candidate::{Candidate, Origin};
use crate::error::Error;
use crate::history::{Entry, History};
use crate::numerics::rows::gather;
use crate::surrogate::SurrogateSettings;
use crate::taken::Taken;

/// So many of the best vectors are shown to the space, to look around them.
const N_NEAR: usize = 10;

impl BayesianOptimisation<'_> {
    /// Where the search stands.
    pub(super) fn phase(&self, history: &History) -> Phase {
        let known = self.known.iter().flat_map(|(_, scores)| scores);
        Phase::of(history, known.copied().max_by(f64::total_cmp))
    }

    /// The belief after some answers, and the vectors of the best of them [K, D]; `None` if nothing is known.
    pub(super) fn learn(
        &self,
        scored: &[(&Entry, f64)],
        warp: Option<Warp>,
        fantasies: bool,
        rng: &mut dyn Rng,
    ) -> Result<Option<(Belief, Matrix)>, Error> {
        if scored.is_empty() && self.known.is_none() {
            return Ok(None);
        }
        let (x, mut y) = self.data(scored)?;
        let near = best_rows(&x, &y);
        if let Some(warp) = warp {
            warp.apply(&mut y);
        }
        let best = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let surrogate = self.config.surrogate.fit(x.as_ref(), &y, rng.next_u64())?;
        let acquisition = self.config.acquisition.build(rng.next_u64());
        Ok(Some((Belief { surrogate, acquisition, best, fantasies }, near)))
    }

    /// Vectors and scores to learn from.
    fn data(&self, entries: &[(&Entry, f64)]) -> Result<(Matrix, Vec<f64>), Error> {
        let candidates: Vec<&Candidate> = entries.iter().map(|(entry, _)| &entry.candidate).collect();
        let (x, y) = (self.space.vectors(&candidates)?, entries.iter().map(|&(_, score)| score));
        let Some((known, scores)) = &self.known else { return Ok((x, y.collect())) };
        let n_known = known.nrows();
        let both = Mat::from_fn(n_known + x.nrows(), known.ncols(), |row, column| {
            if row < n_known { known[(row, column)] } else { x[(row - n_known, column)] }
        });
        // A query worse than all that is known says "not here", and no more: taken at its word, one of them would leave the
        // differences at the top too small to learn.
        let floor = scores.iter().copied().fold(f64::INFINITY, f64::min);
        Ok((both, scores.iter().copied().chain(y.map(|score| score.max(floor))).collect()))
    }

    /// Random candidates in place of those that the acquisition should have found. Where everything promising is known, e.g.
    /// all good vectors decode to known graphs, anything new will do.
    pub(super) fn anything(&self, n: usize, taken: &Taken<'_>, rng: &mut dyn Rng) -> Vec<Candidate> {
        let drawn = self.space.sample(n, taken, rng).into_iter();
        drawn.map(|candidate| Candidate { origin: Origin::Acquisition, ..candidate }).collect()
    }
}

/// The vectors of the highest scores, best first.
fn best_rows(x: &Matrix, y: &[f64]) -> Matrix {
    let mut rows: Vec<usize> = (0..y.len()).collect();
    rows.sort_by(|&a, &b| y[b].total_cmp(&y[a]));
    rows.truncate(N_NEAR);
    gather(x.as_ref(), &rows)
}
