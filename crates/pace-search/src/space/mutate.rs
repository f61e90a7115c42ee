//! STAND-IN, to be replaced on merging by `pub use pace_graph::enumerate::Mutate` (same signatures).

use pace_graph::Dag;
use rand::Rng;

/// Small changes of a graph that stay in its search space.
pub trait Mutate {
    /// One random small change.
    fn mutate(&self, dag: &Dag, rng: &mut dyn Rng) -> Dag;

    /// All graphs one small change away.
    fn neighbours(&self, dag: &Dag) -> Vec<Dag>;
}
