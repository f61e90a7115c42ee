//! [`BayesianOptimisation`]: learn from what was answered, ask what promises most.
//!
//! [`ours`] and [`published`] are the two loops; [`learning`] is what they share.

use pace_graph::enumerate::Mutate;
use serde::{Deserialize, Serialize};

use super::{Setting, Strategy, StrategySettings};
use crate::Matrix;
use crate::acquisition::AcquisitionConfig;
use crate::candidate::Candidate;
use crate::error::Error;
use crate::history::History;
use crate::space::Embedded;
use crate::surrogate::SurrogateConfig;

mod belief;
mod learning;
mod ours;
mod phase;
mod published;
mod reach;
mod warp;

pub use reach::Reach;
pub use warp::Warp;

/// Whose loop it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Nothing is asked twice, batches spread out, a restart keeps what was learnt, and the budget holds.
    Ours,
    /// The loop of the published NAS-Bench-101 results, with its slips: the acquisition is asked about everything, so
    /// queries repeat; scores are not standardised; a restart, after 20 rounds without improvement, forgets all samples;
    /// local search runs after a round is answered, skips the best samples whose score the round has shown, and takes
    /// only the first random queries for visited, so the neighbour of a sample is mostly itself; and the loop runs 1 query
    /// (2 with local search) past its budget.
    Published,
    /// The same of NAS-Bench-301, where local search compares a run time with the number of queries and stops after one
    /// neighbour, and takes nothing for visited.
    PublishedNas301,
}

/// How to learn and to choose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BayesianOptimisationConfig {
    /// Random queries to begin with; may be 0 where scores are known beforehand.
    pub initial: usize,
    /// What is learnt.
    pub surrogate: SurrogateConfig,
    /// What becomes of the scores before that.
    pub warp: Warp,
    /// What is chosen by.
    pub acquisition: AcquisitionConfig,
    /// What is chosen among; published loops always look at the whole space.
    pub reach: Reach,
    /// Spread batches out by imagining the outcomes of what is chosen already.
    pub fantasies: bool,
    /// DNGO-LS: each round also asks for untried neighbours of the best so far.
    pub local_search: bool,
    /// For how many.
    pub n_neighbours: usize,
    /// Of how many, in turn.
    pub n_centres: usize,
    /// The neighbour that the acquisition wants most among so many nearest ones; 1 is the paper's, the nearest of all. Under
    /// [`Reach::Edits`] neighbours are the graphs one edit away, all of them.
    pub neighbourhood: usize,
    /// Ask `initial` random queries again after so many rounds without improvement.
    pub patience: Option<usize>,
    /// Whose loop.
    pub protocol: Protocol,
}

impl BayesianOptimisationConfig {
    /// The loop of DNGO without local search: 16 random queries, then rounds.
    pub fn new(surrogate: SurrogateConfig, acquisition: AcquisitionConfig) -> BayesianOptimisationConfig {
        BayesianOptimisationConfig {
            initial: 16,
            surrogate,
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
        let search = BayesianOptimisation::new(self.clone(), setting.embedded(self.name())?, seed)?;
        Ok(Box::new(match self.reach {
            Reach::Edits { .. } => search.with_edits(setting.edits(self.name())?.mutate),
            Reach::Space => search,
        }))
    }
}

/// Bayesian optimisation over an embedded space.
///
/// Each round fits a new surrogate to the vectors and scores of all answered queries and asks for the `n` best by the
/// acquisition. Failed queries are left out of the fit and not asked again; queries without an answer are imagined to
/// come out as expected.
pub struct BayesianOptimisation<'a> {
    config: BayesianOptimisationConfig,
    space: &'a dyn Embedded,
    seed: u64,
    /// What [`Reach::Edits`] goes by.
    edits: Option<&'a dyn Mutate>,
    /// Vectors [N, D] and scores from before the search.
    known: Option<(Matrix, Vec<f64>)>,
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
        Ok(BayesianOptimisation { config, space, seed, edits: None, known: None })
    }

    /// With the edits that [`Reach::Edits`] needs.
    pub fn with_edits(self, edits: &'a dyn Mutate) -> BayesianOptimisation<'a> {
        BayesianOptimisation { edits: Some(edits), ..self }
    }

    /// Also learns from scores that were known before, such as those of the graphs a VAE was trained on. They cost no
    /// queries.
    pub fn with_known(mut self, vectors: Matrix, scores: Vec<f64>) -> Result<BayesianOptimisation<'a>, Error> {
        if vectors.nrows() != scores.len() {
            return Err(Error::TargetCount { rows: vectors.nrows(), targets: scores.len() });
        }
        self.known = Some((vectors, scores));
        Ok(self)
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
