//! The methods of Table 2: DNGO, DNGO-LS, and what they have to beat.

use pace_model::encoder::Task;
use pace_search::acquisition::{AcquisitionConfig, LogExpectedImprovement, PublishedEi};
use pace_search::strategy::{
    BayesianOptimisationConfig, EvolutionConfig, LocalSearchConfig, Protocol as Loop, Reach, StrategyConfig, Warp,
};
use pace_search::surrogate::{DngoConfig, Evidence, SurrogateConfig};
use serde::{Deserialize, Serialize};

use super::args::{MlmArgs, Protocol, ReachArg};
use super::searches::Method;

/// A way to search, under the name it has in options, files and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[value(rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum MethodId {
    /// Random search
    Random,
    /// Regularised evolution
    Evolution,
    /// Local mutation search
    Local,
    /// DNGO
    Dngo,
    /// DNGO with local search
    DngoLs,
}

impl MethodId {
    /// The name, e.g. `dngo_ls`.
    pub fn name(self) -> &'static str {
        match self {
            MethodId::Random => "random",
            MethodId::Evolution => "evolution",
            MethodId::Local => "local",
            MethodId::Dngo => "dngo",
            MethodId::DngoLs => "dngo_ls",
        }
    }

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            MethodId::Random => "random search",
            MethodId::Evolution => "regularised evolution",
            MethodId::Local => "local mutation search",
            MethodId::Dngo => "DNGO",
            MethodId::DngoLs => "DNGO-LS",
        }
    }

    /// Whether it learns from the vectors of an encoder.
    pub fn learns(self) -> bool {
        matches!(self, MethodId::Dngo | MethodId::DngoLs)
    }
}

/// What of our DNGO differs between the programs; the authors' has none of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DngoPlan {
    /// Steps of Adam on all rows.
    pub epochs: usize,
    /// What a round chooses among, unless the user says otherwise.
    pub reach: ReachArg,
}

/// A round looks at all graphs one edit away from this many of the best ...
const N_CENTRES: usize = 10;
/// ... and at this many random graphs.
const N_RANDOM: usize = 1000;

/// DNGO without and with local search, random search, regularised evolution and local mutation search.
pub fn dngo_methods(args: &MlmArgs, task: Task, plan: DngoPlan) -> Vec<Method> {
    let (protocol, ensemble) = (args.protocol, args.ensemble);
    let dngo = |local_search| {
        let (surrogate, acquisition) = match protocol {
            Protocol::Ours => (
                DngoConfig { evidence: Evidence::Exact, epochs: plan.epochs, ..DngoConfig::default() },
                AcquisitionConfig::LogExpectedImprovement(LogExpectedImprovement { xi: 0.0 }),
            ),
            Protocol::Published => (DngoConfig::published(), AcquisitionConfig::PublishedEi(PublishedEi::default())),
        };
        let surrogate = DngoConfig { ensemble: ensemble.unwrap_or(surrogate.ensemble), ..surrogate };
        let config = BayesianOptimisationConfig::new(SurrogateConfig::Dngo(surrogate), acquisition);
        let protocol = match (protocol, task) {
            (Protocol::Ours, _) => Loop::Ours,
            (Protocol::Published, Task::Nas301) => Loop::PublishedNas301,
            (Protocol::Published, _) => Loop::Published,
        };
        StrategyConfig::Bayes(Box::new(BayesianOptimisationConfig {
            local_search,
            protocol,
            warp: Warp::Ranks,
            reach: match args.reach.unwrap_or(plan.reach) {
                ReachArg::Edits => Reach::Edits { n_centres: N_CENTRES, n_twice: 0, n_random: N_RANDOM },
                ReachArg::Space => Reach::Space,
            },
            neighbourhood: args.neighbourhood as usize,
            ..config
        }))
    };
    let method = |id, strategy| Method { id, strategy };
    vec![
        method(MethodId::Random, StrategyConfig::Random),
        method(MethodId::Evolution, StrategyConfig::Evolution(EvolutionConfig::default())),
        method(MethodId::Local, StrategyConfig::Local(LocalSearchConfig::default())),
        method(MethodId::Dngo, dngo(false)),
        method(MethodId::DngoLs, dngo(true)),
    ]
}
