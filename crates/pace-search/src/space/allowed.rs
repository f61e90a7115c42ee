//! [`Allowed`]: the graphs of a space that a predicate of the user's allows.

use pace_graph::Dag;
use rand::Rng;

use super::{Space, Taken};
use crate::candidate::Candidate;

/// Rounds of draws in a row without an allowed graph before the space counts as exhausted.
const MAX_EMPTY: usize = 20;
/// Graphs drawn in a round, at least: if few are allowed, drawing one by one would give up too soon.
const ROUND: usize = 64;

/// What a spec cannot say: at most three convolutions, a budget of parameters, only graphs of a list.
///
/// Wrap the space before it gets its vectors, so that no graph is encoded which is not allowed:
///
/// ```
/// use pace_graph::enumerate::Enas;
/// use pace_search::space::{Allowed, Open, Space, Taken};
/// use rand::SeedableRng;
/// let (enas, few_edges) = (Enas::default(), |dag: &pace_graph::Dag| dag.n_edges() < 12);
/// let all = Open::new(&enas);
/// let space = Allowed::new(&all, &few_edges);
/// let drawn = space.sample(50, &Taken::default(), &mut rand_chacha::ChaCha8Rng::seed_from_u64(0));
/// assert!(drawn.len() == 50 && drawn.iter().all(|candidate| candidate.dag.n_edges() < 12));
/// ```
pub struct Allowed<'a> {
    space: &'a dyn Space,
    allows: &'a (dyn Fn(&Dag) -> bool + Sync),
}

impl<'a> Allowed<'a> {
    /// The graphs of `space` that `allows` says yes to. It is asked again when a graph comes again.
    pub fn new(space: &'a dyn Space, allows: &'a (dyn Fn(&Dag) -> bool + Sync)) -> Allowed<'a> {
        Allowed { space, allows }
    }
}

impl Space for Allowed<'_> {
    fn sample(&self, n: usize, taken: &Taken<'_>, rng: &mut dyn Rng) -> Vec<Candidate> {
        let (mut taken, mut found, mut n_empty) = (taken.clone(), Vec::new(), 0);
        while found.len() < n && n_empty < MAX_EMPTY {
            let before = found.len();
            let drawn = self.space.sample((n - found.len()).max(ROUND), &taken, rng);
            if drawn.is_empty() {
                break;
            }
            for candidate in drawn {
                // A refused graph need not be drawn again.
                taken.insert(&candidate);
                if found.len() < n && (self.allows)(&candidate.dag) {
                    found.push(candidate);
                }
            }
            n_empty = if found.len() == before { n_empty + 1 } else { 0 };
        }
        found
    }

    fn admit(&self, dag: Dag) -> Option<Candidate> {
        self.space.admit(dag).filter(|candidate| (self.allows)(&candidate.dag))
    }
}
