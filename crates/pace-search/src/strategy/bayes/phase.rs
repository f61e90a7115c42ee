//! [`Phase`]: the state of a Bayesian optimisation, read from its history.

use std::ops::Range;

use crate::candidate::Origin;
use crate::history::{Entry, History};

/// The last random queries, and the guided rounds after them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Phase {
    /// The first of the last random queries.
    pub(super) start: usize,
    /// How many random queries follow one another from `start`.
    pub(super) n_random: usize,
    /// Whether other queries followed them.
    pub(super) is_guided: bool,
    /// The number of guided rounds since then without a new best score. They need not be consecutive.
    pub(super) n_stale: usize,
}

impl Phase {
    /// Reads the history. `known` is the best score known before the search.
    pub(super) fn of(history: &History, known: Option<f64>) -> Phase {
        let entries = history.entries();
        let Range { start, end } = history.last_random();
        let before = entries[..end].iter().filter_map(Entry::score).chain(known);
        let mut best = before.fold(f64::NEG_INFINITY, f64::max);
        // A round begins with queries of the acquisition. The neighbours asked after them belong to it.
        let (mut round, mut n_stale, mut improved) = (None, 0, true);
        for entry in &entries[end..] {
            if entry.candidate.origin == Origin::Acquisition && round != Some(entry.round) {
                n_stale += usize::from(!improved);
                (round, improved) = (Some(entry.round), false);
            }
            if let Some(score) = entry.score().filter(|&score| score > best) {
                (best, improved) = (score, true);
            }
        }
        n_stale += usize::from(!improved);
        Phase { start, n_random: end - start, is_guided: entries.len() > end, n_stale }
    }

    /// How many random queries are missing before the first guided round; `None` if none is.
    pub(super) fn n_to_begin(&self, initial: usize) -> Option<usize> {
        (!self.is_guided && self.n_random < initial).then(|| initial - self.n_random)
    }

    /// How many random queries a restart asks; `None` before `patience` stale rounds.
    pub(super) fn n_to_restart(&self, initial: usize, patience: Option<usize>) -> Option<usize> {
        (initial > 0 && patience.is_some_and(|patience| self.n_stale >= patience)).then_some(initial)
    }
}

#[cfg(test)]
mod tests {
    use super::Phase;
    use crate::candidate::{Candidate, Origin};
    use crate::history::{History, Outcome};

    fn history(rounds: &[&[(Origin, f64)]]) -> History {
        let mut history = History::default();
        for round in rounds {
            let first = history.n_asked();
            history.ask(round.iter().map(|&(origin, _)| Candidate::new("0 1 : 0>1".parse().unwrap(), origin)));
            for (index, &(_, score)) in round.iter().enumerate() {
                history.tell(first + index, Outcome::of(score)).unwrap();
            }
        }
        history
    }

    #[test]
    fn stale_rounds_add_up_until_the_next_random_ones() {
        use Origin::{Acquisition as A, Neighbour as N, Random as R};
        let mut rounds: Vec<&[(Origin, f64)]> = vec![&[(R, 0.5), (R, 0.2)], &[(A, 0.1)], &[(A, 0.6)], &[(A, 0.6)]];
        let phase = Phase::of(&history(&rounds), None);
        assert_eq!(phase, Phase { start: 0, n_random: 2, is_guided: true, n_stale: 2 });
        assert_eq!(Phase::of(&history(&rounds), Some(0.9)).n_stale, 3);
        // A neighbour asked after its round still saves it.
        rounds.push(&[(N, 0.7)]);
        assert_eq!(Phase::of(&history(&rounds), None).n_stale, 1);
        rounds.push(&[(R, 0.1)]);
        let phase = Phase::of(&history(&rounds), None);
        assert_eq!(phase, Phase { start: 6, n_random: 1, is_guided: false, n_stale: 0 });
    }
}
