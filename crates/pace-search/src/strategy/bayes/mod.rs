//! [`BayesianOptimisation`]: learn from the answers, ask what promises most.
//!
//! [`ours`] and [`published`] are the two loops. [`learning`] is what they share.

use std::cell::RefCell;

use pace_graph::enumerate::Mutate;
use serde::{Deserialize, Serialize};

use super::{Setting, Strategy, StrategySettings};
use crate::Matrix;
use crate::acquisition::{AcquisitionConfig, LogExpectedImprovement};
use crate::candidate::Candidate;
use crate::error::Error;
use crate::history::History;
use crate::known::Known;
use crate::space::Embedded;
use crate::surrogate::{DngoConfig, Evidence, Surrogate, SurrogateConfig};

mod belief;
mod learning;
mod ours;
mod phase;
mod published;
mod reach;
mod warp;

pub use reach::Reach;
pub use warp::Warp;

/// Our loop, or a published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Our loop. It asks nothing twice, spreads batches out, keeps what it learnt after a restart, and respects the budget.
    Ours,
    /// The loop of the published NAS-Bench-101 results, with its mistakes:
    ///
    /// - The acquisition sees all graphs, so queries repeat.
    /// - Scores are not standardised.
    /// - A restart, after 20 rounds without improvement, forgets all samples.
    /// - Local search runs after a round is answered. It skips the best samples if the round has shown their scores. It
    ///   counts only the first random queries as visited, so the nearest neighbour of a sample is mostly itself.
    /// - The loop asks 1 query more than its budget, 2 with local search.
    Published,
    /// The loop of the published NAS-Bench-301 results. It makes the same mistakes, but its local search counts nothing as
    /// visited, and stops after one neighbour because it compares a run time with a number of queries.
    PublishedNas301,
}

/// How to learn and how to choose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BayesianOptimisationConfig {
    /// The number of random queries at the start. It may be 0 if scores are known before the search. Under [`Reach::Edits`] they
    /// are edits of the best graph that is known, if there is one.
    pub initial: usize,
    /// The model of the scores.
    pub surrogate: SurrogateConfig,
    /// The share by which the scores must grow in number before the model is learnt anew. Until then it is
    /// [refitted](crate::surrogate::Surrogate::refit), if it can be. 0 learns it anew in every round.
    #[serde(default)]
    pub relearn: f64,
    /// The transformation of the scores before the model sees them.
    pub warp: Warp,
    /// The criterion of the choice.
    pub acquisition: AcquisitionConfig,
    /// The graphs among which a round chooses. Published loops always choose among the whole space.
    pub reach: Reach,
    /// Whether to spread a batch out, by imagining the outcomes of the queries that are chosen already.
    pub fantasies: bool,
    /// DNGO-LS: whether each round also asks for untried neighbours of the best queries so far.
    pub local_search: bool,
    /// The number of these neighbours.
    pub n_neighbours: usize,
    /// The number of best queries whose neighbours are asked, in turn.
    pub n_centres: usize,
    /// The number of nearest neighbours among which the acquisition chooses one. The paper has 1. Under [`Reach::Edits`] it
    /// chooses among all graphs one edit away.
    pub neighbourhood: usize,
    /// Restart with `initial` random queries after this number of rounds without improvement.
    pub patience: Option<usize>,
    /// Our loop or a published one.
    pub protocol: Protocol,
}

/// Training steps of DNGO's network on a hundred scores, see [`BayesianOptimisationConfig::dngo`].
const DNGO_STEPS: usize = 25;

impl BayesianOptimisationConfig {
    /// A search for some hundred queries by any vectors, with settings that were chosen on NAS-Bench-101 by searches whose results are
    /// not reported, and held on NAS-Bench-301.
    ///
    /// DNGO learns the ranks of the scores, because some graphs are far worse than all others, in 25 steps: an untrained network
    /// knows too little, and one of 200 steps has learnt its hundred rows by heart. A round chooses by the logarithm of expected
    /// improvement among the edits of the ten best graphs and 1,000 random ones. The space needs edits.
    pub fn dngo() -> BayesianOptimisationConfig {
        let surrogate = DngoConfig { evidence: Evidence::Exact, epochs: DNGO_STEPS, ..DngoConfig::default() };
        let acquisition = AcquisitionConfig::LogExpectedImprovement(LogExpectedImprovement { xi: 0.0 });
        BayesianOptimisationConfig {
            warp: Warp::Ranks,
            reach: Reach::Edits { n_centres: 10, n_twice: 0, n_random: 1000 },
            ..BayesianOptimisationConfig::new(SurrogateConfig::Dngo(surrogate), acquisition)
        }
    }

    /// The loop of DNGO without local search: 16 random queries, then guided rounds.
    pub fn new(surrogate: SurrogateConfig, acquisition: AcquisitionConfig) -> BayesianOptimisationConfig {
        BayesianOptimisationConfig {
            initial: 16,
            surrogate,
            relearn: 0.0,
            warp: Warp::Standardise,
            acquisition,
            reach: Reach::Space,
            fantasies: true,
            local_search: false,
            n_neighbours: 5,
            n_centres: 5,
            neighbourhood: 1,
            patience: None,
            protocol: Protocol::Ours,
        }
    }
}

impl StrategySettings for BayesianOptimisationConfig {
    fn name(&self) -> &'static str {
        "bayes"
    }

    fn init<'a>(&self, setting: Setting<'a>, seed: u64) -> Result<Box<dyn Strategy + 'a>, Error> {
        let mut search = BayesianOptimisation::new(self.clone(), setting.embedded(self.name())?, seed)?;
        if let Some(known) = setting.known.filter(|known| !known.graphs().is_empty()) {
            search = search.with_graphs(known)?;
        }
        Ok(Box::new(match self.reach {
            Reach::Edits { .. } => search.with_edits(setting.edits(self.name())?.mutate),
            Reach::Space => search,
        }))
    }
}

/// Bayesian optimisation over an embedded space.
///
/// Each round fits a new surrogate to the vectors and scores of all answered queries, and asks for the `n` best by the
/// acquisition. Failed queries are left out of the fit and are not asked again. Queries without an answer are treated as if
/// their expected scores had been observed.
pub struct BayesianOptimisation<'a> {
    config: BayesianOptimisationConfig,
    space: &'a dyn Embedded,
    seed: u64,
    /// The edits of [`Reach::Edits`].
    edits: Option<&'a dyn Mutate>,
    /// Vectors [N, D] and scores from before the search.
    known: Option<(Matrix, Vec<f64>)>,
    /// The graphs of these, if they are known, too.
    graphs: Option<&'a Known>,
    /// What was learnt last, and from how many scores. It could be learnt from the history again.
    learnt: RefCell<Option<(usize, Box<dyn Surrogate>)>>,
}

impl<'a> BayesianOptimisation<'a> {
    /// A search of this space.
    pub fn new(
        config: BayesianOptimisationConfig,
        space: &'a dyn Embedded,
        seed: u64,
    ) -> Result<BayesianOptimisation<'a>, Error> {
        if config.patience == Some(0) {
            let range = "a restart after every round learns nothing, so it is at least 1";
            return Err(Error::BadSetting { name: "patience", value: "0".to_owned(), range });
        }
        Ok(BayesianOptimisation {
            config,
            space,
            seed,
            edits: None,
            known: None,
            graphs: None,
            learnt: RefCell::default(),
        })
    }

    /// With the edits that [`Reach::Edits`] needs.
    pub fn with_edits(self, edits: &'a dyn Mutate) -> BayesianOptimisation<'a> {
        BayesianOptimisation { edits: Some(edits), ..self }
    }

    /// Also learns from scores that are known before the search, such as those of the graphs a VAE was trained on. They cost
    /// no queries.
    pub fn with_known(mut self, vectors: Matrix, scores: Vec<f64>) -> Result<BayesianOptimisation<'a>, Error> {
        if vectors.nrows() != scores.len() {
            return Err(Error::TargetCount { rows: vectors.nrows(), targets: scores.len() });
        }
        self.known = Some((vectors, scores));
        Ok(self)
    }

    /// As [`with_known`](Self::with_known), with the graphs. [`Reach::Edits`] edits the best of them, and none is asked.
    pub fn with_graphs(self, known: &'a Known) -> Result<BayesianOptimisation<'a>, Error> {
        let (candidates, scores): (Vec<Candidate>, Vec<f64>) =
            known.graphs().iter().filter_map(|(dag, score)| Some((self.space.admit(dag.clone())?, *score))).unzip();
        let search = BayesianOptimisation { graphs: Some(known), ..self };
        if candidates.is_empty() {
            // Nothing to learn from: all of them are outside the space. They can still be edited.
            return Ok(search);
        }
        let vectors = search.space.vectors(&candidates.iter().collect::<Vec<_>>())?;
        search.with_known(vectors, scores)
    }
}

impl Strategy for BayesianOptimisation<'_> {
    fn propose(&mut self, history: &History, n: usize) -> Result<Vec<Candidate>, Error> {
        match self.config.protocol {
            Protocol::Ours => self.propose_ours(history, n),
            Protocol::Published | Protocol::PublishedNas301 => self.propose_published(history, n),
        }
    }

    fn overrun(&self) -> usize {
        match self.config.protocol {
            Protocol::Ours => 0,
            Protocol::Published | Protocol::PublishedNas301 => 1 + usize::from(self.config.local_search),
        }
    }
}
