//! [`Open`]: all graphs that a sampler may draw.

use pace_graph::enumerate::Sampler;
use pace_graph::{Dag, DagSpec};
use rand::Rng;

use super::{Space, Taken};
use crate::candidate::{Candidate, Origin};

/// Consecutive draws without a new graph before the space counts as exhausted.
const MAX_MISSES: usize = 1000;

/// A space that is too large to list. Its graphs come from a sampler; a graph belongs to it if the sampler's spec accepts it.
pub struct Open<'a> {
    sampler: &'a (dyn Sampler + Sync),
    spec: DagSpec,
}

impl<'a> Open<'a> {
    /// The space of this sampler.
    pub fn new(sampler: &'a (dyn Sampler + Sync)) -> Open<'a> {
        Open { sampler, spec: sampler.spec() }
    }
}

impl Space for Open<'_> {
    fn sample(&self, n: usize, taken: &Taken<'_>, rng: &mut dyn Rng) -> Vec<Candidate> {
        let (mut taken, mut found, mut misses) = (taken.clone(), Vec::new(), 0);
        while found.len() < n && misses < MAX_MISSES {
            let candidate = Candidate::new(self.sampler.sample(rng), Origin::Random);
            if taken.insert(&candidate) {
                found.push(candidate);
                misses = 0;
            } else {
                misses += 1;
            }
        }
        found
    }

    fn admit(&self, dag: Dag) -> Option<Candidate> {
        self.spec.is_valid(&dag).then(|| Candidate::new(dag, Origin::Mutation))
    }
}
