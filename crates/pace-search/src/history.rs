//! [`History`]: what was asked and what came back, in the order of asking.

use std::collections::HashMap;
use std::ops::Range;

use pace_graph::GraphKey;

use crate::candidate::{Candidate, Origin};
use crate::curve::Trace;
use crate::error::Error;

/// What came of a query.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Higher is better; always finite.
    Score(f64),
    /// No score, and why. The query is spent and is not asked again.
    Failed(String),
}

impl Outcome {
    /// A score; one that is not a finite number is a failure.
    pub fn of(score: f64) -> Outcome {
        if score.is_finite() { Outcome::Score(score) } else { Outcome::Failed(format!("the score is {score}")) }
    }

    /// The same, with what is not a score turned into a failure.
    pub(crate) fn checked(self) -> Outcome {
        match self {
            Outcome::Score(score) => Outcome::of(score),
            failed => failed,
        }
    }

    /// The score, if there is one.
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
    /// Queries are numbered from 0 in the order of asking.
    pub id: usize,
    /// The batch it was asked in, from 0.
    pub round: usize,
    /// What was asked.
    pub candidate: Candidate,
    /// What came back, if anything has.
    pub outcome: Option<Outcome>,
}

impl Entry {
    /// The score, if there is one.
    pub fn score(&self) -> Option<f64> {
        self.outcome.as_ref().and_then(Outcome::score)
    }
}

/// All queries of a search. Strategies see nothing else, so equal histories are continued equally.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    entries: Vec<Entry>,
    /// The first query of each class.
    keys: HashMap<GraphKey, usize>,
    places: HashMap<usize, usize>,
    n_rounds: usize,
}

impl History {
    /// Appends a round of queries; their numbers follow the last one.
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

    /// Takes an answer, in any order. The same answer again changes nothing; another one is an error.
    pub fn tell(&mut self, id: usize, outcome: Outcome) -> Result<(), Error> {
        let outcome = outcome.checked();
        self.check(id, &outcome)?;
        self.entries[id].outcome = Some(outcome);
        Ok(())
    }

    /// Whether [`tell`](Self::tell) would take this answer.
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

    /// All queries.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many queries were asked.
    pub fn n_asked(&self) -> usize {
        self.entries.len()
    }

    /// How many batches were asked.
    pub fn n_rounds(&self) -> usize {
        self.n_rounds
    }

    /// Queries with a score.
    pub fn scored(&self) -> impl DoubleEndedIterator<Item = (&Entry, f64)> {
        self.entries.iter().filter_map(|entry| entry.score().map(|score| (entry, score)))
    }

    /// Queries without an answer.
    pub fn pending(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.outcome.is_none())
    }

    /// The query with the highest score, the earliest of several.
    pub fn best(&self) -> Option<(&Entry, f64)> {
        // The last of equal maxima is taken, so walk backwards.
        self.scored().rev().max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The `n` queries of the highest scores, best first; earlier ones first among equals.
    pub fn top(&self, n: usize) -> Vec<(&Entry, f64)> {
        let mut scored: Vec<(&Entry, f64)> = self.scored().collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1));
        scored.truncate(n);
        scored
    }

    /// Whether a graph of this class was asked, answered or not.
    pub fn contains(&self, key: &GraphKey) -> bool {
        self.keys.contains_key(key)
    }

    /// Whether this row of a pool was asked, answered or not.
    pub fn contains_place(&self, place: usize) -> bool {
        self.places.contains_key(&place)
    }

    /// The last run of random queries without a break between them; empty and at 0 if there is none.
    pub(crate) fn last_random(&self) -> Range<usize> {
        let is_random = |entry: &Entry| entry.candidate.origin == Origin::Random;
        let end = self.entries.iter().rposition(is_random).map_or(0, |last| last + 1);
        let start = self.entries[..end].iter().rposition(|entry| !is_random(entry)).map_or(0, |last| last + 1);
        start..end
    }

    /// The scores in the order of asking, and who was best when.
    pub fn trace(&self) -> Trace {
        Trace::of(self.entries.iter().map(Entry::score))
    }
}
