//! The strategy joint: what to ask next.
//!
//! A [`Strategy`] is a function of the history and its seed, and of nothing else: whatever it remembers between calls, it
//! could read from the history again. The random numbers of a round come from the seed and the number of queries asked
//! before. So a search that was killed goes on from its [`Journal`](crate::Journal) as if nothing had happened.

use pace_graph::enumerate::Mutate;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::candidate::Candidate;
use crate::error::Error;
use crate::history::History;
use crate::space::{Embedded, Space};

mod bayes;
mod belief;
mod evolution;
mod local;
mod phase;
mod random;
mod reach;
mod warp;

pub use bayes::{BayesianOptimisation, BayesianOptimisationConfig, Protocol};
pub use evolution::{Evolution, EvolutionConfig};
pub use local::{LocalSearch, LocalSearchConfig};
pub use random::RandomSearch;
pub use reach::Reach;
pub use warp::Warp;

/// A way to search.
pub trait Strategy {
    /// The next queries: about `n`, none if there is nothing left to ask.
    ///
    /// Queries without an answer count as taken: nothing is proposed twice. A method with rounds of its own size (the
    /// first random ones of Bayesian optimisation, the neighbours of its local search) may give more than `n`.
    fn propose(&mut self, history: &History, n: usize) -> Result<Vec<Candidate>, Error>;

    /// How many queries beyond the budget the method takes; only published loops do that.
    fn overrun(&self) -> usize {
        0
    }
}

/// Where a search takes place.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// What may be asked.
    pub space: &'a dyn Space,
    /// The same with vectors, for strategies that learn.
    pub embedded: Option<&'a dyn Embedded>,
    /// Small changes, for strategies that breed.
    pub mutate: Option<&'a dyn Mutate>,
}

/// The strategies that our own commands know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StrategyConfig {
    /// Uniform draws.
    Random,
    /// Regularised evolution.
    Evolution(EvolutionConfig),
    /// Local mutation search.
    Local(LocalSearchConfig),
    /// Bayesian optimisation.
    Bayes(Box<BayesianOptimisationConfig>),
}

impl StrategyConfig {
    /// Its short name, for journals and plots.
    pub fn name(&self) -> &'static str {
        match self {
            StrategyConfig::Random => "random",
            StrategyConfig::Evolution(_) => "evolution",
            StrategyConfig::Local(_) => "local",
            StrategyConfig::Bayes(_) => "bayes",
        }
    }

    /// The strategy at its start; an error if the setting lacks what it needs.
    pub fn init<'a>(&self, setting: Setting<'a>, seed: u64) -> Result<Box<dyn Strategy + 'a>, Error> {
        let strategy = self.name();
        let mutate = || setting.mutate.ok_or(Error::Unequipped { strategy, missing: "mutations of the space" });
        Ok(match self {
            StrategyConfig::Random => Box::new(RandomSearch::new(setting.space, seed)),
            StrategyConfig::Evolution(config) => {
                Box::new(Evolution::new(config.clone(), setting.space, mutate()?, seed)?)
            }
            StrategyConfig::Local(config) => {
                Box::new(LocalSearch::new(config.clone(), setting.space, mutate()?, seed)?)
            }
            StrategyConfig::Bayes(config) => {
                let missing = "a space with vectors";
                let space = setting.embedded.ok_or(Error::Unequipped { strategy, missing })?;
                let bayes = BayesianOptimisation::new((**config).clone(), space, seed)?;
                Box::new(match config.reach {
                    Reach::Edits { .. } => bayes.with_edits(mutate()?),
                    Reach::Space => bayes,
                })
            }
        })
    }
}

/// The random numbers of a round.
fn round_rng(seed: u64, history: &History) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(history.n_asked() as u64);
    rng
}
