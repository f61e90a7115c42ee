//! [`MethodId`]: the ways to search that are compared.

use pace_search::acquisition::{AcquisitionConfig, LogExpectedImprovement};
use pace_search::strategy::{BayesianOptimisationConfig, EvolutionConfig, LocalSearchConfig, Reach, StrategyConfig};
use pace_search::surrogate::{AdditiveGpConfig, SurrogateConfig};
use serde::{Deserialize, Serialize};

use super::start::StartId;

/// A way to search, under the name it has in files and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MethodId {
    /// Bayesian optimisation on the vectors of the trained encoder.
    Pace,
    /// The same on raw features.
    Raw,
    /// The same on the vectors of an untrained encoder.
    Untrained,
    /// Hill climbing with perturbed restarts.
    Hill,
    /// Local search with random restarts.
    Local,
    /// Regularised evolution.
    Evolution,
    /// Random search.
    Random,
}

impl MethodId {
    /// All of them, in the order of the table.
    pub const ALL: [MethodId; 7] = [
        MethodId::Pace,
        MethodId::Raw,
        MethodId::Untrained,
        MethodId::Hill,
        MethodId::Local,
        MethodId::Evolution,
        MethodId::Random,
    ];

    /// The name, e.g. `hill`.
    pub fn name(self) -> &'static str {
        match self {
            MethodId::Pace => "pace",
            MethodId::Raw => "raw",
            MethodId::Untrained => "untrained",
            MethodId::Hill => "hill",
            MethodId::Local => "local",
            MethodId::Evolution => "evolution",
            MethodId::Random => "random",
        }
    }

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            MethodId::Pace => "GP on PACE vectors",
            MethodId::Raw => "the same GP on raw features",
            MethodId::Untrained => "the same GP on an untrained encoder",
            MethodId::Hill => "hill climbing",
            MethodId::Local => "local search",
            MethodId::Evolution => "regularised evolution",
            MethodId::Random => "random search",
        }
    }

    /// Whether it learns from vectors.
    pub fn learns(self) -> bool {
        matches!(self, MethodId::Pace | MethodId::Raw | MethodId::Untrained)
    }

    /// Its settings from this start, for vectors with `block` numbers per node.
    pub fn strategy(self, learner: &Learner, start: StartId, block: usize) -> StrategyConfig {
        match self {
            MethodId::Pace | MethodId::Raw | MethodId::Untrained => {
                StrategyConfig::Bayes(Box::new(learner.strategy(start, block)))
            }
            MethodId::Hill => StrategyConfig::Local(LocalSearchConfig::hill_climbing()),
            MethodId::Local => StrategyConfig::Local(LocalSearchConfig::default()),
            MethodId::Evolution => StrategyConfig::Evolution(EvolutionConfig::default()),
            MethodId::Random => StrategyConfig::Random,
        }
    }
}

/// The settings that all methods with a GP share.
///
/// A round looks at the graphs one edit away from the best so far and at some two edits away, encodes them, and asks for those that
/// the GP expects to improve the best most. The GP adds up what the nodes contribute.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Learner {
    /// Random edits that a search from the empty graph begins with.
    pub initial: usize,
    /// The number of best graphs whose edits are looked at.
    pub n_centres: usize,
    /// The number of graphs two edits away.
    pub n_twice: usize,
    /// The number of random graphs.
    pub n_random: usize,
    /// The largest number of rows of the GP, the best ones.
    pub max_rows: usize,
    /// The share of the variance that the GP starts to give to whole graphs instead of single nodes, once it knows many graphs.
    pub whole: f64,
    /// The share by which the scores grow in number before the hyperparameters are learnt anew.
    pub relearn: f64,
}

impl Learner {
    fn strategy(&self, start: StartId, block: usize) -> BayesianOptimisationConfig {
        let gp = AdditiveGpConfig::new(block);
        // From one graph on, all there is to go by are single nodes.
        let whole = if start == StartId::Empty { gp.whole } else { self.whole };
        let gp = AdditiveGpConfig { max_rows: self.max_rows, whole, ..gp };
        let log_ei = AcquisitionConfig::LogExpectedImprovement(LogExpectedImprovement { xi: 0.0 });
        let Learner { n_centres, n_twice, n_random, .. } = *self;
        let reach = Reach::Edits { n_centres, n_twice, n_random };
        BayesianOptimisationConfig {
            // From one graph there is nothing to learn.
            initial: if start == StartId::Empty { self.initial } else { 0 },
            relearn: self.relearn,
            reach,
            ..BayesianOptimisationConfig::new(SurrogateConfig::AdditiveGp(gp), log_ei)
        }
    }
}
