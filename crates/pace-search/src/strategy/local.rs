//! [`LocalSearch`]: from the best graph to a better neighbour, until there is none.

use pace_graph::Dag;
use rand::Rng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::{Setting, Strategy, StrategySettings, round_rng};
use crate::candidate::{Candidate, Origin};
use crate::error::Error;
use crate::history::History;
use crate::setting::Edits;
use crate::taken::Taken;

/// Attempts to perturb a graph into one that is new.
const MAX_ATTEMPTS: usize = 200;

/// Where a search continues when no neighbour of its best graph is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Restart {
    /// At the best of new random graphs.
    #[default]
    Random,
    /// At the best graph of the whole search, after this many random edits of it. Hill climbing over Bayesian networks is
    /// usually run this way (Scutari 2010).
    Perturb {
        /// The number of edits.
        n_edits: usize,
    },
}

/// The start of a climb.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalSearchConfig {
    /// The number of random graphs. The climb starts from the best of them. If scores are known before the search, the first
    /// climb starts from the best graph that is known.
    pub n_starts: usize,
    /// Where the next climb starts.
    #[serde(default)]
    pub restart: Restart,
}

impl LocalSearchConfig {
    /// Hill climbing with perturbed restarts.
    pub fn hill_climbing() -> LocalSearchConfig {
        LocalSearchConfig { n_starts: 1, restart: Restart::Perturb { n_edits: 3 } }
    }
}

impl Default for LocalSearchConfig {
    fn default() -> LocalSearchConfig {
        LocalSearchConfig { n_starts: 10, restart: Restart::Random }
    }
}

impl StrategySettings for LocalSearchConfig {
    fn name(&self) -> &'static str {
        "local"
    }

    fn init<'a>(&self, setting: Setting<'a>, seed: u64) -> Result<Box<dyn Strategy + 'a>, Error> {
        Ok(Box::new(LocalSearch::new(self.clone(), setting, seed)?))
    }
}

/// Local mutation search (White, Nolen & Savani 2021). It tries the neighbours of the best graph in random order, moves to a
/// better one as soon as it is found, and starts again when no neighbour is left: see [`Restart`].
///
/// The climb is read from the history: the last queries that are no neighbours, and everything since.
pub struct LocalSearch<'a> {
    config: LocalSearchConfig,
    edits: Edits<'a>,
    seed: u64,
}

impl<'a> LocalSearch<'a> {
    /// A search of this setting, which must have mutations.
    pub fn new(config: LocalSearchConfig, setting: Setting<'a>, seed: u64) -> Result<LocalSearch<'a>, Error> {
        if config.n_starts == 0 {
            let range = "a climb starts somewhere, so it is at least 1";
            return Err(Error::BadSetting { name: "n_starts", value: "0".to_owned(), range });
        }
        Ok(LocalSearch { edits: setting.edits(config.name())?, config, seed })
    }
}

impl LocalSearch<'_> {
    /// The best graph of the current climb; `None` before a climb has started, and if nothing of it has a score.
    fn incumbent<'h>(&'h self, history: &'h History) -> Option<&'h Dag> {
        let start = history.last_run(|origin| origin != Origin::Neighbour);
        let entries = &history.entries()[start.start..];
        let is_perturbed = entries.first().is_some_and(|entry| entry.candidate.origin == Origin::Mutation);
        let from_known = self.edits.known().first().filter(|_| start.is_empty());
        let is_started = entries.len() > start.len() || start.len() >= self.config.n_starts || is_perturbed;
        if !is_started && from_known.is_none() {
            return None;
        }
        let asked = entries.iter().rev().filter_map(|entry| Some((&entry.candidate.dag, entry.score()?)));
        let all = asked.chain(from_known.map(|(dag, score)| (dag, *score)));
        all.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(dag, _)| dag)
    }

    /// The best graph of all climbs after some random edits; `None` if these lead nowhere new.
    fn perturbed(
        &self,
        n_edits: usize,
        history: &History,
        taken: &mut Taken<'_>,
        rng: &mut dyn Rng,
    ) -> Option<Candidate> {
        let asked = history.best().map(|(entry, score)| (&entry.candidate.dag, score));
        let known = self.edits.known().first().map(|(dag, score)| (dag, *score));
        let (best, _) = asked.into_iter().chain(known).max_by(|a, b| a.1.total_cmp(&b.1))?;
        (0..MAX_ATTEMPTS).find_map(|_| {
            let edited = (0..n_edits).fold(best.clone(), |dag, _| self.edits.mutate.mutate(&dag, rng));
            let fresh = self.edits.fresh(edited, taken)?;
            Some(Candidate { origin: Origin::Mutation, ..fresh })
        })
    }
}

impl Strategy for LocalSearch<'_> {
    fn propose(&mut self, history: &History, n: usize) -> Result<Vec<Candidate>, Error> {
        let mut rng = round_rng(self.seed, history);
        let mut taken = Taken::by(history).or_known(self.edits.known);
        let incumbent = self.incumbent(history);
        if let Some(incumbent) = incumbent {
            let mut neighbours = self.edits.mutate.neighbours(incumbent);
            neighbours.shuffle(&mut rng);
            let fresh = neighbours.into_iter().filter_map(|dag| self.edits.fresh(dag, &mut taken)).take(n);
            let found: Vec<Candidate> = fresh.map(|c| Candidate { origin: Origin::Neighbour, ..c }).collect();
            if !found.is_empty() {
                return Ok(found);
            }
            if let Restart::Perturb { n_edits } = self.config.restart {
                let start = self.perturbed(n_edits, history, &mut taken, &mut rng);
                if start.is_some() {
                    return Ok(start.into_iter().collect());
                }
            }
        }
        let n_started = if incumbent.is_some() { 0 } else { history.last_random().len() };
        let n_missing = self.config.n_starts.saturating_sub(n_started).max(1);
        Ok(self.edits.space.sample(n_missing.min(n), &taken, &mut rng))
    }
}
