//! [`Limits`]: when a search ends, and what it has found by then.

use crate::score::Points;
use crate::structure::Structure;

/// When a search ends before it is done. This library reads no clock: whoever has a deadline hands in a closure.
#[derive(Clone, Copy, Default)]
pub struct Limits<'a> {
    /// At most so many structures are scored.
    pub max_structures: Option<u64>,
    /// Asked from time to time; the search ends when it says `true`.
    pub stop: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl Limits<'_> {
    /// Whether it is time to end.
    pub fn are_reached(&self, n_structures: u64) -> bool {
        self.max_structures.is_some_and(|max| n_structures >= max) || self.stop.is_some_and(|stop| stop())
    }
}

/// The best score after some number of scored structures: the currency in which searches are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How many structures had been scored.
    pub n_structures: u64,
    /// The best score among them.
    pub best: Points,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The best structure.
    pub structure: Structure,
    /// Its score.
    pub score: Points,
    /// How many structures were scored, each neighbour of a climb and each order counting as one.
    pub n_structures: u64,
    /// Every improvement, in the order it was found.
    pub progress: Vec<Progress>,
}

/// Keeps the best structure of a search.
pub(super) struct Best {
    found: Found,
}

impl Best {
    pub(super) fn new(structure: Structure, score: Points) -> Best {
        let progress = vec![Progress { n_structures: 1, best: score }];
        Best { found: Found { structure, score, n_structures: 1, progress } }
    }

    pub(super) fn structure(&self) -> &Structure {
        &self.found.structure
    }

    pub(super) fn n_structures(&self) -> u64 {
        self.found.n_structures
    }

    /// Notes that more structures were scored.
    pub(super) fn note(&mut self, n: u64) {
        self.found.n_structures += n;
    }

    /// Takes a structure if it is better.
    pub(super) fn offer(&mut self, score: Points, structure: impl FnOnce() -> Structure) -> bool {
        let is_better = score > self.found.score;
        if is_better {
            self.found.score = score;
            self.found.structure = structure();
            self.found.progress.push(Progress { n_structures: self.found.n_structures, best: score });
        }
        is_better
    }

    pub(super) fn finish(self) -> Found {
        self.found
    }
}
