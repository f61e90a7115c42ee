//! [`LocalSearch`]: climbing by small changes.

use pace_graph::enumerate::Mutate;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::{Strategy, round_rng};
use crate::candidate::{Candidate, Origin};
use crate::error::Error;
use crate::history::{Entry, History};
use crate::space::{Space, Taken};

/// How a climb begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalSearchConfig {
    /// Random graphs, from the best of which it starts.
    pub n_starts: usize,
}

impl Default for LocalSearchConfig {
    fn default() -> LocalSearchConfig {
        LocalSearchConfig { n_starts: 10 }
    }
}

/// Local mutation search (White, Nolen & Savani 2021): try the neighbours of the best graph in random order, move to a
/// better one as soon as it is found, and start again at random when none is left.
///
/// A climb is read from the history: it is everything since the last random queries.
pub struct LocalSearch<'a> {
    config: LocalSearchConfig,
    space: &'a dyn Space,
    mutate: &'a dyn Mutate,
    seed: u64,
}

impl<'a> LocalSearch<'a> {
    /// A search of this space by these mutations.
    pub fn new(
        config: LocalSearchConfig,
        space: &'a dyn Space,
        mutate: &'a dyn Mutate,
        seed: u64,
    ) -> Result<LocalSearch<'a>, Error> {
        if config.n_starts == 0 {
            let range = "a climb starts somewhere, so it is at least 1";
            return Err(Error::BadSetting { name: "n_starts", value: "0".to_owned(), range });
        }
        Ok(LocalSearch { config, space, mutate, seed })
    }
}

/// The queries of the current climb, and how many of them began it.
fn climb(history: &History) -> (&[Entry], usize) {
    let is_random = |entry: &Entry| entry.candidate.origin == Origin::Random;
    let entries = history.entries();
    let end = entries.iter().rposition(is_random).map_or(0, |last| last + 1);
    let start = entries[..end].iter().rposition(|entry| !is_random(entry)).map_or(0, |last| last + 1);
    (&entries[start..], end - start)
}

impl Strategy for LocalSearch<'_> {
    fn propose(&mut self, history: &History, n: usize) -> Result<Vec<Candidate>, Error> {
        let mut rng = round_rng(self.seed, history);
        let mut taken = Taken::by(history);
        let (entries, n_started) = climb(history);
        let is_started = entries.len() > n_started || n_started >= self.config.n_starts;
        let top = entries.iter().rev().filter_map(|entry| Some((entry, entry.score()?)));
        let top = top.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|_| is_started);
        if let Some((incumbent, _)) = top {
            let mut neighbours = self.mutate.neighbours(&incumbent.candidate.dag);
            neighbours.shuffle(&mut rng);
            let admitted = neighbours.into_iter().filter_map(|dag| self.space.admit(dag));
            let fresh = admitted.filter(|candidate| taken.insert(candidate)).take(n);
            let found: Vec<Candidate> = fresh.map(|c| Candidate { origin: Origin::Neighbour, ..c }).collect();
            if !found.is_empty() {
                return Ok(found);
            }
        }
        let n_missing = if is_started { self.config.n_starts } else { self.config.n_starts - n_started };
        Ok(self.space.sample(n_missing.min(n), &taken, &mut rng))
    }
}
