//! [`Evolution`]: regularised evolution.

use pace_graph::Dag;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::{Setting, Strategy, StrategySettings, round_rng};
use crate::candidate::Candidate;
use crate::error::Error;
use crate::history::History;
use crate::setting::Edits;
use crate::taken::Taken;

/// Attempts to draw a child that is new, before a random graph replaces it.
const MAX_ATTEMPTS: usize = 200;

/// The sizes of the population and of its tournaments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvolutionConfig {
    /// P: the number of graphs alive. They are the youngest that have a score.
    pub population: usize,
    /// S: the number of graphs drawn, with replacement, of which the best becomes the parent.
    pub tournament: usize,
}

impl Default for EvolutionConfig {
    /// For budgets of 100 to 500 queries. NAS-Bench-101 uses 100 and 10 for thousands of queries.
    fn default() -> EvolutionConfig {
        EvolutionConfig { population: 30, tournament: 10 }
    }
}

impl StrategySettings for EvolutionConfig {
    fn name(&self) -> &'static str {
        "evolution"
    }

    fn init<'a>(&self, setting: Setting<'a>, seed: u64) -> Result<Box<dyn Strategy + 'a>, Error> {
        Ok(Box::new(Evolution::new(self.clone(), setting, seed)?))
    }
}

/// Aging evolution (Real, Aggarwal, Huang & Le 2019, algorithm 1). The first population is random. Then each query is a
/// mutation of the best of a few random graphs, and the oldest graph dies.
///
/// The population is read from the history: the last P queries that have a score, and before them the best graphs whose scores
/// were known. Failed queries are never part of it. Unlike
/// in the paper no graph is asked twice: a child that was asked before is drawn again.
pub struct Evolution<'a> {
    config: EvolutionConfig,
    edits: Edits<'a>,
    seed: u64,
}

impl<'a> Evolution<'a> {
    /// A search of this setting, which must have mutations.
    pub fn new(config: EvolutionConfig, setting: Setting<'a>, seed: u64) -> Result<Evolution<'a>, Error> {
        for (name, value) in [("population", config.population), ("tournament", config.tournament)] {
            if value == 0 {
                return Err(Error::BadSetting { name, value: "0".to_owned(), range: "it is at least 1" });
            }
        }
        Ok(Evolution { edits: setting.edits(config.name())?, config, seed })
    }

    /// An untried child of the population.
    fn child(&self, population: &[(&Dag, f64)], taken: &mut Taken<'_>, rng: &mut dyn Rng) -> Option<Candidate> {
        for _ in 0..MAX_ATTEMPTS {
            let drawn = (0..self.config.tournament).map(|_| population[rng.random_range(0..population.len())]);
            let (parent, _) = drawn.reduce(|best, next| if next.1 > best.1 { next } else { best })?;
            let child = self.edits.fresh(self.edits.mutate.mutate(parent, rng), taken);
            if child.is_some() {
                return child;
            }
        }
        None
    }
}

impl Strategy for Evolution<'_> {
    fn propose(&mut self, history: &History, n: usize) -> Result<Vec<Candidate>, Error> {
        let mut rng = round_rng(self.seed, history);
        let mut taken = Taken::by(history).or_known(self.edits.known);
        let youngest = history.scored().rev().map(|(entry, score)| (&entry.candidate.dag, score));
        // Known graphs are older than all queries, the best of them the youngest.
        let known = self.edits.known().iter().map(|(dag, score)| (dag, *score));
        let population: Vec<(&Dag, f64)> = youngest.chain(known).take(self.config.population).collect();
        let n_alive = history.scored().count() + history.pending().count() + self.edits.known().len();
        let n_random = self.config.population.saturating_sub(n_alive).min(n);
        let mut found = self.edits.space.sample(n_random, &taken, &mut rng);
        taken.extend(&found);
        while found.len() < n && !population.is_empty() {
            let child = self.child(&population, &mut taken, &mut rng);
            let Some(next) = child.or_else(|| self.edits.space.sample(1, &taken, &mut rng).pop()) else { break };
            taken.insert(&next);
            found.push(next);
        }
        if found.is_empty() {
            // No query has a score yet, and more are pending than the population holds.
            found = self.edits.space.sample(n, &taken, &mut rng);
        }
        Ok(found)
    }
}
