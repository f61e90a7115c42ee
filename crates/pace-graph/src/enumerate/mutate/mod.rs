//! The mutation joint: the graphs one step away from a graph, for local search and evolution.
//!
//! ```
//! use pace_graph::enumerate::{Enas, Mutate, Sampler};
//! use rand::SeedableRng;
//! let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(0);
//! let parent = Enas::default().sample(&mut rng);
//! let child = Enas::default().mutate(&parent, &mut rng);
//! assert!(Enas::default().neighbours(&parent).contains(&child));
//! ```

use std::collections::HashSet;

use rand::{Rng, RngExt};

use crate::dag::{Dag, Op};
use crate::key::GraphKey;

mod bn;
mod darts;
mod enas;
mod nas101;
mod spec_space;

/// Single steps within a search space.
pub trait Mutate: Sync {
    /// All graphs of the space one edit away from `dag`, without `dag` itself: each isomorphism class once, in canonical
    /// form. Isomorphic graphs have the same neighbours in the same order.
    ///
    /// # Panics
    /// If `dag` is not in the space.
    fn neighbours(&self, dag: &Dag) -> Vec<Dag>;

    /// One of [`Mutate::neighbours`], each with the same probability unless the space says otherwise.
    ///
    /// # Panics
    /// If `dag` is not in the space.
    fn mutate(&self, dag: &Dag, rng: &mut dyn Rng) -> Dag {
        let mut neighbours = self.neighbours(dag);
        assert!(!neighbours.is_empty(), "a space of one graph has nothing to mutate to");
        let chosen = rng.random_range(0..neighbours.len());
        neighbours.swap_remove(chosen)
    }
}

/// The canonical forms of `edited`, each once and in order of appearance, except the form of `origin`.
fn distinct(origin: &Dag, edited: impl IntoIterator<Item = Dag>) -> Vec<Dag> {
    let mut seen = HashSet::from([GraphKey::of(origin)]);
    let keys = edited.into_iter().map(|dag| GraphKey::of(&dag));
    keys.filter(|key| seen.insert(key.clone())).map(|key| key.canonical()).collect()
}

/// The same graph with another operation at `node`.
fn with_op(dag: &Dag, node: usize, op: Op) -> Dag {
    let ops = dag.ops().enumerate().map(|(at, old)| if at == node { op } else { old });
    Dag::new(ops.collect(), dag.edges()).expect("the edges were acyclic before")
}
