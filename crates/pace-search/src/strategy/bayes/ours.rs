//! Our loop: it asks nothing twice, spreads batches out, and keeps what it learnt after a restart.

use pace_graph::Dag;
use rand::Rng;
use rand::seq::SliceRandom;

use super::belief::Belief;
use super::{BayesianOptimisation, Reach};
use crate::candidate::{Candidate, Origin};
use crate::error::Error;
use crate::history::{Entry, History};
use crate::known::Known;
use crate::setting::Edits;
use crate::space::{Criterion, choose};
use crate::strategy::{StrategySettings, round_rng};
use crate::taken::Taken;

impl BayesianOptimisation<'_> {
    /// Random queries at a start or restart; else the best by the acquisition and, with local search, their neighbours.
    pub(super) fn propose_ours(&self, history: &History, n: usize) -> Result<Vec<Candidate>, Error> {
        let config = &self.config;
        let mut rng = round_rng(self.seed, history);
        let mut taken = Taken::by(history).or_known(self.graphs);
        let phase = self.phase(history);
        let n_due = phase.n_to_begin(config.initial).or_else(|| phase.n_to_restart(config.initial, config.patience));
        if let Some(n_due) = n_due {
            return self.random(n_due, &mut taken, &mut rng);
        }
        let (mut found, mut belief) = self.guided(history, n, &taken, &mut rng)?;
        if config.local_search {
            taken.extend(&found);
            if let (Some(belief), Some(last)) = (&mut belief, found.last()) {
                belief.imagine(&self.vector(last)?);
            }
            found.extend(self.neighbours(&history.top(config.n_centres), taken, belief)?);
        }
        Ok(found)
    }

    /// Random queries: edits of the best known graph if edits are what a round chooses among, else any graphs of the space.
    fn random(&self, n: usize, taken: &mut Taken<'_>, rng: &mut dyn Rng) -> Result<Vec<Candidate>, Error> {
        let known = self.graphs.and_then(Known::best);
        if let (Reach::Edits { .. }, Some((best, _))) = (self.config.reach, known) {
            let mut near = self.edits()?.around([best], taken);
            near.shuffle(rng);
            near.truncate(n);
            if !near.is_empty() {
                return Ok(near.into_iter().map(|edit| Candidate { origin: Origin::Random, ..edit }).collect());
            }
        }
        Ok(self.space.sample(n, taken, rng))
    }

    /// The best candidates by the acquisition, and the belief behind them, which has imagined the outcomes of all but the last.
    fn guided(
        &self,
        history: &History,
        n: usize,
        taken: &Taken<'_>,
        rng: &mut dyn Rng,
    ) -> Result<(Vec<Candidate>, Option<Belief>), Error> {
        let scored: Vec<(&Entry, f64)> = history.scored().collect();
        let learnt = self.learn(&scored, Some(self.config.warp), self.config.fantasies, rng)?;
        let Some((mut belief, near)) = learnt else { return Ok((self.space.sample(n, taken, rng), None)) };
        let pending: Vec<&Candidate> = history.pending().map(|entry| &entry.candidate).collect();
        if !pending.is_empty() {
            for row in self.space.vectors(&pending)?.row_iter() {
                belief.imagine(&row.iter().copied().collect::<Vec<f64>>());
            }
        }
        let found = match self.config.reach {
            Reach::Space => self.space.propose(n, taken, near.as_ref(), &mut belief, rng)?,
            Reach::Edits { n_centres, n_twice, n_random } => {
                let (mut taken, edits) = (taken.clone(), self.edits()?);
                let centres = self.centres(history, n_centres);
                let mut near = edits.around(centres.iter().copied(), &mut taken);
                near.extend(edits.twice(&centres, n_twice, &mut taken, rng));
                near.extend(self.space.sample(n_random, &taken, rng));
                choose(n, near, self.space, &mut belief)?
            }
        };
        Ok((if found.is_empty() { self.anything(n, taken, rng) } else { found }, Some(belief)))
    }

    /// The best graphs so far, queries and known ones.
    fn centres<'h>(&'h self, history: &'h History, n: usize) -> Vec<&'h Dag> {
        let asked = history.top(n).into_iter().map(|(entry, score)| (&entry.candidate.dag, score));
        let known = self.graphs.map_or(&[][..], Known::graphs).iter().take(n).map(|(dag, score)| (dag, *score));
        let mut centres: Vec<(&Dag, f64)> = asked.chain(known).collect();
        centres.sort_by(|a, b| b.1.total_cmp(&a.1));
        centres.into_iter().take(n).map(|(dag, _)| dag).collect()
    }

    /// The space with the edits of [`Reach::Edits`].
    fn edits(&self) -> Result<Edits<'_>, Error> {
        let missing = "mutations of the space";
        let mutate = self.edits.ok_or(Error::Unequipped { strategy: self.config.name(), missing })?;
        Ok(Edits { space: self.space, mutate, known: self.graphs })
    }

    /// The vector of a candidate.
    fn vector(&self, candidate: &Candidate) -> Result<Vec<f64>, Error> {
        Ok(self.space.vectors(&[candidate])?.row(0).iter().copied().collect())
    }

    /// For each of the given queries in turn: the best by the acquisition among its nearest untried graphs, or among those
    /// one edit away.
    fn neighbours(
        &self,
        of: &[(&Entry, f64)],
        mut taken: Taken<'_>,
        mut belief: Option<Belief>,
    ) -> Result<Vec<Candidate>, Error> {
        let mut found: Vec<Candidate> = Vec::new();
        for (entry, _) in of.iter().cycle().take(self.config.n_neighbours) {
            let mut near = match self.config.reach {
                Reach::Edits { .. } => self.edits()?.around([&entry.candidate.dag], &mut taken.clone()),
                Reach::Space => self.space.nearest(&entry.candidate, self.config.neighbourhood, &taken)?,
            };
            if near.is_empty() {
                continue;
            }
            let best = match &belief {
                Some(belief) if near.len() > 1 => {
                    let vectors = self.space.vectors(&near.iter().collect::<Vec<_>>())?;
                    let wanted = belief.score(vectors.as_ref());
                    // Ties go to the nearer one. NaN is never chosen.
                    let order = |&a: &usize, &b: &usize| wanted[a].total_cmp(&wanted[b]).then(b.cmp(&a));
                    (0..near.len()).filter(|&row| !wanted[row].is_nan()).max_by(order).unwrap_or(0)
                }
                _ => 0,
            };
            let next = Candidate { origin: Origin::Neighbour, ..near.swap_remove(best) };
            if let Some(belief) = &mut belief {
                belief.imagine(&self.vector(&next)?);
            }
            taken.insert(&next);
            found.push(next);
        }
        Ok(found)
    }
}
