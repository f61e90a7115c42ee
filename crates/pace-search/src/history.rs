//! [`History`]: what was asked and what came back, in the order of asking.

use std::collections::HashMap;
use std::ops::Range;

use pace_graph::GraphKey;

use crate::candidate::{Candidate, Origin};
use crate::curve::Trace;
use crate::error::Error;

/// The answer to a query.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A finite number; higher is better.
    Score(f64),
    /// There is no score, for this reason. The query is not asked again.
    Failed(String),
}

impl Outcome {
    /// A score, or a failure if it is not finite.
    pub fn of(score: f64) -> Outcome {
        if score.is_finite() { Outcome::Score(score) } else { Outcome::Failed(format!("the score is {score}")) }
    }

    /// The same outcome, or a failure if its score is not finite.
    pub(crate) fn checked(self) -> Outcome {
        match self {
            Outcome::Score(score) => Outcome::of(score),
            failed => failed,
        }
    }

    /// The score; `None` after a failure.
    pub fn score(&self) -> Option<f64> {
        match self {
            Outcome::Score(score) => Some(*score),
            Outcome::Failed(_) => None,
        }
    }
}

impl Error {
    pub(crate) fn contradiction(id: usize, known: &Outcome, new: &Outcome) -> Error {
        Error::Answer { id, reason: format!("it is {known:?} already, and now {new:?}; keep one of the two") }
    }
}

/// One query.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its number. Queries are numbered from 0 in the order of asking.
    pub id: usize,
    /// The round in which it was asked, from 0.
    pub round: usize,
    /// The graph that was asked about.
    pub candidate: Candidate,
    /// The answer; `None` as long as there is none.
    pub outcome: Option<Outcome>,
}

impl Entry {
    /// The score; `None` after a failure.
    pub fn score(&self) -> Option<f64> {
        self.outcome.as_ref().and_then(Outcome::score)
    }
}

/// All queries of a search. Strategies see nothing else, so equal histories lead to equal queries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    entries: Vec<Entry>,
    /// The first query of each isomorphism class.
    keys: HashMap<GraphKey, usize>,
    places: HashMap<usize, usize>,
    n_rounds: usize,
}

impl History {
    /// Appends a round of queries. Their numbers follow the last one.
    pub fn ask(&mut self, candidates: impl IntoIterator<Item = Candidate>) {
        let round = self.n_rounds;
        for candidate in candidates {
            let id = self.entries.len();
            self.keys.entry(candidate.key()).or_insert(id);
            if let Some(place) = candidate.place {
                self.places.entry(place).or_insert(id);
            }
            self.entries.push(Entry { id, round, candidate, outcome: None });
            self.n_rounds = round + 1;
        }
    }

    /// Records an answer. Answers may come in any order. The same answer again changes nothing; a different one is an error.
    pub fn tell(&mut self, id: usize, outcome: Outcome) -> Result<(), Error> {
        let outcome = outcome.checked();
        self.check(id, &outcome)?;
        self.entries[id].outcome = Some(outcome);
        Ok(())
    }

    /// Errs if [`tell`](Self::tell) would refuse this answer.
    pub(crate) fn check(&self, id: usize, outcome: &Outcome) -> Result<(), Error> {
        let Some(entry) = self.entries.get(id) else {
            let reason = format!("the {} queries asked are numbered from 0; correct the number", self.n_asked());
            return Err(Error::Answer { id, reason });
        };
        match &entry.outcome {
            Some(known) if known != outcome => Err(Error::contradiction(id, known, outcome)),
            _ => Ok(()),
        }
    }

    /// The answer that holds; `None` as long as there is none, or no such query.
    pub(crate) fn answer(&self, id: usize) -> Option<&Outcome> {
        self.entries.get(id).and_then(|entry| entry.outcome.as_ref())
    }

    /// All queries.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many queries were asked.
    pub fn n_asked(&self) -> usize {
        self.entries.len()
    }

    /// How many queries have an answer.
    pub fn n_answered(&self) -> usize {
        self.entries.iter().filter(|entry| entry.outcome.is_some()).count()
    }

    /// How many rounds were asked.
    pub fn n_rounds(&self) -> usize {
        self.n_rounds
    }

    /// The queries that have a score.
    pub fn scored(&self) -> impl DoubleEndedIterator<Item = (&Entry, f64)> {
        self.entries.iter().filter_map(|entry| entry.score().map(|score| (entry, score)))
    }

    /// The queries that have no answer yet.
    pub fn pending(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.outcome.is_none())
    }

    /// The query with the highest score; the earliest if several share it.
    pub fn best(&self) -> Option<(&Entry, f64)> {
        // `max_by` returns the last of equal maxima, so walk backwards.
        self.scored().rev().max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The `n` queries with the highest scores, best first. Of equal scores the earlier query comes first.
    pub fn top(&self, n: usize) -> Vec<(&Entry, f64)> {
        let mut scored: Vec<(&Entry, f64)> = self.scored().collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1));
        scored.truncate(n);
        scored
    }

    /// Whether a graph of this isomorphism class was asked, answered or not.
    pub fn contains(&self, key: &GraphKey) -> bool {
        self.keys.contains_key(key)
    }

    /// Whether this row of a pool was asked, answered or not.
    pub fn contains_place(&self, place: usize) -> bool {
        self.places.contains_key(&place)
    }

    /// The last run of random queries without a break between them; empty and at 0 if there is none.
    pub(crate) fn last_random(&self) -> Range<usize> {
        self.last_run(|origin| origin == Origin::Random)
    }

    /// The last run of queries of some origins without a break between them; empty and at 0 if there is none.
    pub(crate) fn last_run(&self, of: impl Fn(Origin) -> bool) -> Range<usize> {
        let is_one = |entry: &Entry| of(entry.candidate.origin);
        let end = self.entries.iter().rposition(is_one).map_or(0, |last| last + 1);
        let start = self.entries[..end].iter().rposition(|entry| !is_one(entry)).map_or(0, |last| last + 1);
        start..end
    }

    /// The scores in the order of asking, with the best query so far after each.
    pub fn trace(&self) -> Trace {
        Trace::of(self.entries.iter().map(Entry::score))
    }
}
