//! [`Taken`]: the graphs that must not be proposed again.

use std::collections::HashSet;

use pace_graph::GraphKey;

use crate::candidate::Candidate;
use crate::history::History;
use crate::known::Known;

/// All graphs of a history, answered or not, and those that a batch has added.
#[derive(Clone, Debug, Default)]
pub struct Taken<'a> {
    history: Option<&'a History>,
    known: Option<&'a Known>,
    keys: HashSet<GraphKey>,
    places: HashSet<usize>,
}

impl<'a> Taken<'a> {
    /// All graphs that were asked.
    pub fn by(history: &'a History) -> Taken<'a> {
        Taken { history: Some(history), ..Taken::default() }
    }

    /// Also all graphs whose scores were known before.
    pub fn or_known(self, known: Option<&'a Known>) -> Taken<'a> {
        Taken { known, ..self }
    }

    /// An upper bound of the rows of a pool that are taken.
    pub fn len(&self) -> usize {
        self.places.len() + self.history.map_or(0, History::n_asked) + self.n_known()
    }

    /// The number of graphs whose scores were known before. Unlike queries they have no row that is marked as taken.
    pub(crate) fn n_known(&self) -> usize {
        self.known.map_or(0, |known| known.graphs().len())
    }

    /// Whether nothing is taken.
    pub fn is_empty(&self) -> bool {
        self.len() == 0 && self.keys.is_empty()
    }

    /// Marks a candidate and its row as taken. Returns false if it or an isomorphic graph was taken before.
    pub fn insert(&mut self, candidate: &Candidate) -> bool {
        let key = candidate.key();
        let known_place = candidate.place.is_some_and(|place| self.contains_place(place));
        self.places.extend(candidate.place);
        !known_place && !self.contains(&key) && self.keys.insert(key)
    }

    /// Marks candidates as taken.
    pub fn extend(&mut self, candidates: &[Candidate]) {
        for candidate in candidates {
            self.insert(candidate);
        }
    }

    /// Whether a graph of this isomorphism class is taken.
    pub fn contains(&self, key: &GraphKey) -> bool {
        self.keys.contains(key)
            || self.history.is_some_and(|history| history.contains(key))
            || self.known.is_some_and(|known| known.contains(key))
    }

    /// Whether a row of a pool is taken.
    pub fn contains_place(&self, place: usize) -> bool {
        self.places.contains(&place) || self.history.is_some_and(|history| history.contains_place(place))
    }
}
