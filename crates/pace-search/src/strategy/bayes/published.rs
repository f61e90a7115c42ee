//! The loop of the published results, with its mistakes. [`Protocol`] lists them.

use super::{BayesianOptimisation, Protocol};
use crate::candidate::{Candidate, Origin};
use crate::error::Error;
use crate::history::{Entry, History};
use crate::strategy::round_rng;
use crate::taken::Taken;

/// Rounds without improvement before a restart.
const PATIENCE: usize = 20;

impl BayesianOptimisation<'_> {
    /// Random queries at a start or restart; else the best by the acquisition, alternating with a half round of local search.
    pub(super) fn propose_published(&self, history: &History, n: usize) -> Result<Vec<Candidate>, Error> {
        let config = &self.config;
        let mut rng = round_rng(self.seed, history);
        let phase = self.phase(history);
        if let Some(n_due) = phase.n_to_begin(config.initial) {
            return Ok(self.space.sample(n_due, &Taken::by(history), &mut rng));
        }
        if config.local_search {
            let found = self.half_round(history, n)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        if let Some(n_due) = phase.n_to_restart(config.initial, config.patience.or(Some(PATIENCE))) {
            return Ok(self.space.sample(n_due, &Taken::by(history), &mut rng));
        }
        // A restart forgets what came before it. Nothing counts as taken, so queries repeat.
        let (scored, taken) = (history.scored().filter(|(entry, _)| entry.id >= phase.start), Taken::default());
        let learnt = self.learn(&scored.collect::<Vec<_>>(), None, false, &mut rng)?;
        let Some((mut belief, near)) = learnt else { return Ok(self.space.sample(n, &taken, &mut rng)) };
        let found = self.space.propose(n, &taken, near.as_ref(), &mut belief, &mut rng)?;
        Ok(if found.is_empty() { self.anything(n, &taken, &mut rng) } else { found })
    }

    /// The queries of local search, once the other half of a round is answered: up to `n` nearest neighbours of the best.
    ///
    /// Empty if the last queries were not chosen by the acquisition. Two samples may have the same neighbour.
    fn half_round(&self, history: &History, n: usize) -> Result<Vec<Candidate>, Error> {
        let entries = history.entries();
        let Some(last) = entries.last().filter(|last| last.candidate.origin == Origin::Acquisition) else {
            return Ok(Vec::new());
        };
        let shown: Vec<f64> =
            entries.iter().filter(|entry| entry.round == last.round).filter_map(Entry::score).collect();
        let mut top = history.top(self.config.n_centres);
        top.retain(|(_, score)| !shown.contains(score));
        let mut visited = Taken::default();
        if self.config.protocol == Protocol::Published {
            for entry in entries.iter().filter(|entry| entry.candidate.origin == Origin::Random) {
                visited.insert(&entry.candidate);
            }
        }
        let mut found = Vec::new();
        for (entry, _) in top {
            found.extend(self.space.nearest(&entry.candidate, 1, &visited)?);
        }
        found.truncate(if self.config.protocol == Protocol::PublishedNas301 { 1 } else { n });
        Ok(found)
    }
}
