//! What both loops share: the belief after some answers.

use faer::{Mat, MatRef};
use rand::Rng;

use super::belief::Belief;
use super::phase::Phase;
use super::{BayesianOptimisation, Warp};
use crate::Matrix;
use crate::candidate::{Candidate, Origin};
use crate::error::Error;
use crate::history::{Entry, History};
use crate::numerics::rows::gather;
use crate::surrogate::{Surrogate, SurrogateSettings};
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
        let (x, scores) = self.data(scored)?;
        let near = best_rows(&x, &scores);
        let best = warped(warp, &scores).into_iter().fold(f64::NEG_INFINITY, f64::max);
        let surrogate = self.surrogate(x.as_ref(), &scores, warp, rng)?;
        let acquisition = self.config.acquisition.build(rng.next_u64());
        Ok(Some((Belief { surrogate, acquisition, best, fantasies }, near)))
    }

    /// The surrogate of these rows: learnt from them, or from the first of them and refitted to all.
    fn surrogate(
        &self,
        x: MatRef<'_, f64>,
        scores: &[f64],
        warp: Option<Warp>,
        rng: &mut dyn Rng,
    ) -> Result<Box<dyn Surrogate>, Error> {
        let (seed, y) = (rng.next_u64(), warped(warp, scores));
        if self.config.relearn <= 0.0 {
            return self.config.surrogate.fit(x, &y, seed);
        }
        let n_learnt = last_milestone(y.len(), self.config.relearn);
        let mut learnt = self.learnt.borrow_mut();
        if learnt.as_ref().is_none_or(|(n, _)| *n != n_learnt) {
            // Neither the seed nor the warp may depend on the round, which is another one after a restart of the program.
            let (seed, first) = (self.seed.wrapping_add(n_learnt as u64), warped(warp, &scores[..n_learnt]));
            *learnt = Some((n_learnt, self.config.surrogate.fit(x.subrows(0, n_learnt), &first, seed)?));
        }
        let (_, model) = learnt.as_ref().expect("it was just learnt");
        model.refit(x, &y).unwrap_or_else(|| self.config.surrogate.fit(x, &y, seed))
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

/// The scores as the surrogate sees them.
fn warped(warp: Option<Warp>, scores: &[f64]) -> Vec<f64> {
    let mut y = scores.to_vec();
    if let Some(warp) = warp {
        warp.apply(&mut y);
    }
    y
}

/// The largest of the numbers 1, 2, ... that is at most `n` (at least 1), where each exceeds the one before by a share of it, and
/// at least by 1.
fn last_milestone(n: usize, share: f64) -> usize {
    let mut milestone = 1;
    loop {
        let next = (milestone + 1).max((milestone as f64 * (1.0 + share)).ceil() as usize);
        if next > n {
            return milestone;
        }
        milestone = next;
    }
}

/// The vectors of the highest scores, best first.
fn best_rows(x: &Matrix, y: &[f64]) -> Matrix {
    let mut rows: Vec<usize> = (0..y.len()).collect();
    rows.sort_by(|&a, &b| y[b].total_cmp(&y[a]));
    rows.truncate(N_NEAR);
    gather(x.as_ref(), &rows)
}

#[cfg(test)]
mod tests {
    use super::last_milestone;

    #[test]
    fn milestones_grow_by_a_share() {
        let found: Vec<usize> = (1..30).map(|n| last_milestone(n, 0.3)).collect();
        let mut milestones = found.clone();
        milestones.dedup();
        assert_eq!(milestones, [1, 2, 3, 4, 6, 8, 11, 15, 20, 26]);
        assert!(found.iter().zip(1..).all(|(&milestone, n)| milestone <= n));
    }
}
