//! The strategy joint: what to ask next.
//!
//! A [`Strategy`] is a function of the history and its seed, and of nothing else. It may remember things between calls only
//! if it could read them from the history again. The random numbers of a round depend on the seed and on the number of
//! queries asked before. So a search that was killed resumes from its [`Journal`](crate::Journal) as if nothing had happened.
//!
//! ```
//! use pace_graph::enumerate::{Enas, Sampler};
//! use pace_search::oracle::NaSurrogate;
//! use pace_search::space::Open;
//! use pace_search::strategy::{Setting, StrategyConfig};
//! let sampler = Enas::default();
//! let space = Open::new(&sampler);
//! let mut strategy = StrategyConfig::Random.init(Setting::new(&space), 0)?;
//! let trace = pace_search::run_in_memory(&mut *strategy, NaSurrogate::embedded(), 20, 1)?;
//! assert_eq!(trace.len(), 20);
//! # Ok::<(), pace_search::Error>(())
//! ```

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::candidate::Candidate;
use crate::error::Error;
use crate::history::History;

mod bayes;
mod evolution;
mod local;
mod random;

pub use crate::setting::Setting;
pub use bayes::{BayesianOptimisation, BayesianOptimisationConfig, Protocol, Reach, Warp};
pub use evolution::{Evolution, EvolutionConfig};
pub use local::{LocalSearch, LocalSearchConfig, Restart};
pub use random::{RandomSearch, RandomSearchConfig};

/// A way to search.
pub trait Strategy {
    /// The next queries: about `n`; empty if there is nothing left to ask.
    ///
    /// Queries without an answer count as taken: nothing is proposed twice. A method with rounds of its own size may propose
    /// more than `n`, e.g. the first random queries of Bayesian optimisation.
    fn propose(&mut self, history: &History, n: usize) -> Result<Vec<Candidate>, Error>;

    /// How many queries beyond the budget the method asks. Only published loops exceed the budget.
    fn overrun(&self) -> usize {
        0
    }
}

/// The configuration of a strategy.
pub trait StrategySettings {
    /// Its short name, for journals and plots.
    fn name(&self) -> &'static str;

    /// The strategy at its start; an error if the setting lacks what it needs.
    fn init<'a>(&self, setting: Setting<'a>, seed: u64) -> Result<Box<dyn Strategy + 'a>, Error>;
}

/// The configuration of any strategy.
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
    /// The configuration of the chosen strategy.
    fn chosen(&self) -> &dyn StrategySettings {
        match self {
            StrategyConfig::Random => &RandomSearchConfig,
            StrategyConfig::Evolution(config) => config,
            StrategyConfig::Local(config) => config,
            StrategyConfig::Bayes(config) => &**config,
        }
    }

    /// Its short name, for journals and plots.
    pub fn name(&self) -> &'static str {
        self.chosen().name()
    }

    /// The strategy at its start; an error if the setting lacks what it needs.
    pub fn init<'a>(&self, setting: Setting<'a>, seed: u64) -> Result<Box<dyn Strategy + 'a>, Error> {
        self.chosen().init(setting, seed)
    }
}

/// The random numbers of a round.
fn round_rng(seed: u64, history: &History) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(history.n_asked() as u64);
    rng
}
