//! The methods of Table 2: DNGO, DNGO-LS, and what they have to beat.

use pace_model::encoder::Task;
use pace_search::acquisition::{AcquisitionConfig, PublishedEi};
use pace_search::strategy::{
    BayesianOptimisationConfig, EvolutionConfig, LocalSearchConfig, Protocol as Loop, Reach, StrategyConfig,
};
use pace_search::surrogate::{DngoConfig, SurrogateConfig};
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
    /// Regularised evolution, one query at a time
    #[value(name = "evolution_1")]
    #[serde(rename = "evolution_1")]
    EvolutionOne,
    /// Local mutation search, one query at a time
    #[value(name = "local_1")]
    #[serde(rename = "local_1")]
    LocalOne,
    /// DNGO on raw features
    Raw,
    /// DNGO on an untrained encoder
    Untrained,
    /// DNGO
    Dngo,
    /// DNGO with local search
    DngoLs,
}

/// The vectors that a method learns from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorsOf {
    /// The trained encoder.
    Trained,
    /// The encoder as initialised.
    Untrained,
    /// One-hot operations and adjacency of the canonical form.
    Raw,
}

impl MethodId {
    /// The name, e.g. `dngo_ls`.
    pub fn name(self) -> &'static str {
        match self {
            MethodId::Random => "random",
            MethodId::Evolution => "evolution",
            MethodId::Local => "local",
            MethodId::EvolutionOne => "evolution_1",
            MethodId::LocalOne => "local_1",
            MethodId::Raw => "raw",
            MethodId::Untrained => "untrained",
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
            MethodId::EvolutionOne => "regularised evolution, one query at a time",
            MethodId::LocalOne => "local mutation search, one query at a time",
            MethodId::Raw => "DNGO on raw features",
            MethodId::Untrained => "DNGO on an untrained encoder",
            MethodId::Dngo => "DNGO",
            MethodId::DngoLs => "DNGO-LS",
        }
    }

    /// The vectors it learns from, if it does.
    pub fn vectors(self) -> Option<VectorsOf> {
        match self {
            MethodId::Dngo | MethodId::DngoLs => Some(VectorsOf::Trained),
            MethodId::Untrained => Some(VectorsOf::Untrained),
            MethodId::Raw => Some(VectorsOf::Raw),
            _ => None,
        }
    }
}

/// DNGO without and with local search, DNGO on other vectors, and what needs no vectors: random search, regularised evolution
/// and local mutation search, these two also one query at a time, as they are usually run.
pub fn dngo_methods(args: &MlmArgs, task: Task) -> Vec<Method> {
    let ours = BayesianOptimisationConfig::dngo();
    let published = SurrogateConfig::Dngo(DngoConfig::published());
    let config = match (args.protocol, task) {
        (Protocol::Ours, _) => ours,
        (Protocol::Published, task) => BayesianOptimisationConfig {
            surrogate: published,
            acquisition: AcquisitionConfig::PublishedEi(PublishedEi::default()),
            protocol: if task == Task::Nas301 { Loop::PublishedNas301 } else { Loop::Published },
            ..ours
        },
    };
    let mut surrogate = config.surrogate;
    if let SurrogateConfig::Dngo(dngo) = &mut surrogate {
        dngo.ensemble = args.ensemble.unwrap_or(dngo.ensemble);
        if args.protocol == Protocol::Ours {
            dngo.epochs = args.dngo_steps.unwrap_or(dngo.epochs);
        }
    }
    let reach = if args.reach == Some(ReachArg::Space) { Reach::Space } else { config.reach };
    let neighbourhood = args.neighbourhood as usize;
    let config = BayesianOptimisationConfig { surrogate, reach, neighbourhood, ..config };
    let dngo =
        |local_search| StrategyConfig::Bayes(Box::new(BayesianOptimisationConfig { local_search, ..config.clone() }));
    let rounds = |id, strategy| Method { id, strategy, batch: None };
    let single = |id, strategy| Method { id, strategy, batch: Some(1) };
    let evolution = StrategyConfig::Evolution(EvolutionConfig::default());
    let local = StrategyConfig::Local(LocalSearchConfig::default());
    vec![
        rounds(MethodId::Random, StrategyConfig::Random),
        rounds(MethodId::Evolution, evolution.clone()),
        single(MethodId::EvolutionOne, evolution),
        rounds(MethodId::Local, local.clone()),
        single(MethodId::LocalOne, local),
        rounds(MethodId::Raw, dngo(false)),
        rounds(MethodId::Untrained, dngo(false)),
        rounds(MethodId::Dngo, dngo(false)),
        rounds(MethodId::DngoLs, dngo(true)),
    ]
}
