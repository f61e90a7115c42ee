//! What both loops share: the belief after some answers.

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

/// The number of best vectors that the space may look around.
const N_NEAR: usize = 10;

impl BayesianOptimisation<'_> {
    /// The state of the search.
    pub(super) fn phase(&self, history: &History) -> Phase {
        let known = self.known.iter().flat_map(|(_, scores)| scores);
        Phase::of(history, known.copied().max_by(f64::total_cmp))
    }

    /// The belief after some answers, and the vectors [K, D] of the best of them; `None` if no score is known.
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

    /// The vectors and scores to learn from.
    fn data(&self, entries: &[(&Entry, f64)]) -> Result<(Matrix, Vec<f64>), Error> {
        let candidates: Vec<&Candidate> = entries.iter().map(|(entry, _)| &entry.candidate).collect();
        let (x, y) = (self.space.vectors(&candidates)?, entries.iter().map(|&(_, score)| score));
        let Some((known, scores)) = &self.known else { return Ok((x, y.collect())) };
        let n_known = known.nrows();
        let both = Mat::from_fn(n_known + x.nrows(), known.ncols(), |row, column| {
            if row < n_known { known[(row, column)] } else { x[(row - n_known, column)] }
        });
        // A query worse than all known scores counts as bad as the worst of them: its own score would make the differences
        // at the top too small to learn.
        let floor = scores.iter().copied().fold(f64::INFINITY, f64::min);
        Ok((both, scores.iter().copied().chain(y.map(|score| score.max(floor))).collect()))
    }

    /// Random candidates, for rounds in which the acquisition found none, e.g. because all good vectors decode to known
    /// graphs.
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
