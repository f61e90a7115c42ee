//! [`LocalSearch`]: from the best graph to a better neighbour, until there is none.

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::{Setting, Strategy, StrategySettings, round_rng};
use crate::candidate::{Candidate, Origin};
use crate::error::Error;
use crate::history::History;
use crate::setting::Edits;
use crate::taken::Taken;

/// The start of a climb.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalSearchConfig {
    /// The number of random graphs. The climb starts from the best of them.
    pub n_starts: usize,
}

impl Default for LocalSearchConfig {
    fn default() -> LocalSearchConfig {
        LocalSearchConfig { n_starts: 10 }
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
/// better one as soon as it is found, and starts again at random when no neighbour is left.
///
/// The climb is read from the history: the last random queries, and everything since.
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

impl Strategy for LocalSearch<'_> {
    fn propose(&mut self, history: &History, n: usize) -> Result<Vec<Candidate>, Error> {
        let mut rng = round_rng(self.seed, history);
        let mut taken = Taken::by(history);
        let start = history.last_random();
        let (entries, n_started) = (&history.entries()[start.start..], start.len());
        let is_started = entries.len() > n_started || n_started >= self.config.n_starts;
        let top = entries.iter().rev().filter_map(|entry| Some((entry, entry.score()?)));
        let top = top.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|_| is_started);
        if let Some((incumbent, _)) = top {
            let mut neighbours = self.edits.mutate.neighbours(&incumbent.candidate.dag);
            neighbours.shuffle(&mut rng);
            let fresh = neighbours.into_iter().filter_map(|dag| self.edits.fresh(dag, &mut taken)).take(n);
            let found: Vec<Candidate> = fresh.map(|c| Candidate { origin: Origin::Neighbour, ..c }).collect();
            if !found.is_empty() {
                return Ok(found);
            }
        }
        let n_missing = if is_started { self.config.n_starts } else { self.config.n_starts - n_started };
        Ok(self.edits.space.sample(n_missing.min(n), &taken, &mut rng))
    }
}
