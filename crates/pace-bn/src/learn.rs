//! [`learn`]: from a table to a network with everything that is known about it; what a command has to do, in one call.

use serde::{Deserialize, Serialize};

use crate::data::Table;
use crate::error::Error;
use crate::exact::{CandidateConfig, Candidates, Certificate, ExactConfig, certify};
use crate::network::{Network, fit};
use crate::score::{ScoreKind, Scorer};
use crate::search::{ClimbConfig, Found, Limits, NearConfig, climb, search_near};
use crate::strength::{BootstrapConfig, Strengths};
use crate::structure::{Confusion, Structure, shd, shd_dags};

/// How the structure is searched for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Tabu search, orders, then a certificate: the best network within the limit of parents.
    Exact(ExactConfig),
    /// Hill climbing or tabu search on arcs.
    Climb(ClimbConfig),
    /// Tabu search on arcs, then search over orders among the families near what it found.
    Orders {
        /// The first search.
        climb: ClimbConfig,
        /// The second.
        near: NearConfig,
    },
}

/// What to learn and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnConfig {
    /// The score.
    pub score: ScoreKind,
    /// The most parents of a variable; `None` for no limit.
    pub max_parents: Option<usize>,
    /// How the structure is searched for.
    pub method: Method,
    /// The pseudo-count of the probabilities; 0 for maximum likelihood.
    pub pseudo_count: f64,
    /// How sure the arcs are, if asked for.
    pub bootstrap: Option<BootstrapConfig>,
}

impl Default for LearnConfig {
    fn default() -> LearnConfig {
        LearnConfig {
            score: ScoreKind::Bic,
            max_parents: Some(3),
            method: Method::Exact(ExactConfig::default()),
            pseudo_count: 0.0,
            bootstrap: None,
        }
    }
}

/// A learnt network.
#[derive(Clone, Debug)]
pub struct Learnt {
    /// Structure and probabilities.
    pub network: Network,
    /// The score of its structure.
    pub score: f64,
    /// The proof, if the method gives one.
    pub certificate: Option<Certificate>,
    /// How sure the arcs are, if asked for.
    pub strengths: Option<Strengths>,
    /// How many families were scored.
    pub n_families: u64,
}

/// Learns a network: the structure by the chosen method, then the probabilities, then how sure the arcs are.
///
/// # Errors
/// If an option is out of range, or the problem is too large for the method.
pub fn learn(table: &Table, config: &LearnConfig, limits: &Limits) -> Result<Learnt, Error> {
    let scorer = Scorer::new(table, config.score)?;
    let (structure, certificate) = match &config.method {
        Method::Climb(climbing) => (tabu(&scorer, climbing, config.max_parents, limits).structure, None),
        Method::Orders { climb: climbing, near } => {
            let first = tabu(&scorer, climbing, config.max_parents, limits).structure;
            let candidates = CandidateConfig { max_parents: config.max_parents, ..CandidateConfig::default() };
            (search_near(&scorer, &first, &candidates, near, limits)?.structure, None)
        }
        Method::Exact(exact) => {
            let candidates = CandidateConfig { max_parents: config.max_parents, ..CandidateConfig::default() };
            let candidates = Candidates::all(&scorer, &candidates)?;
            let first = tabu(&scorer, &ClimbConfig::tabu(), config.max_parents, limits);
            let certificate = certify(&candidates, Some(&first.structure), exact, limits)?;
            (certificate.structure.clone(), Some(certificate))
        }
    };
    let score = scorer.structure(&structure).nats();
    let bootstrap = config.bootstrap.as_ref().map(|bootstrap| {
        let climb = ClimbConfig { max_parents: config.max_parents, ..bootstrap.climb.clone() };
        Strengths::bootstrap(table, config.score, &BootstrapConfig { climb, ..bootstrap.clone() })
    });
    let strengths = bootstrap.transpose()?;
    let network = fit(table, &structure, config.pseudo_count)?;
    Ok(Learnt { network, score, certificate, strengths, n_families: scorer.n_families() })
}

fn tabu(scorer: &Scorer, config: &ClimbConfig, max_parents: Option<usize>, limits: &Limits) -> Found {
    let config = ClimbConfig { max_parents, ..config.clone() };
    climb(scorer, &Structure::empty(scorer.table().n_variables()), &config, limits)
}

/// What a command says about a learnt network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Variables, rows and distinct rows of the data.
    pub variables: usize,
    /// All rows.
    pub rows: usize,
    /// The rows that differ.
    pub distinct_rows: usize,
    /// The rows that were left out because a value was missing.
    pub dropped_rows: usize,
    /// Which score.
    pub score_name: String,
    /// The score.
    pub score: f64,
    /// No network within the limits has a higher score, if that was proven.
    pub upper_bound: Option<f64>,
    /// The difference of the two.
    pub gap: Option<f64>,
    /// Whether the network is proven to be the best.
    pub is_proven: bool,
    /// The number of arcs.
    pub arcs: usize,
    /// The number of free parameters.
    pub parameters: usize,
    /// The families that were scored.
    pub families_scored: u64,
}

impl Summary {
    /// Sums up what was learnt from a table.
    pub fn of(table: &Table, config: &LearnConfig, learnt: &Learnt) -> Summary {
        let certificate = learnt.certificate.as_ref();
        Summary {
            variables: table.n_variables(),
            rows: table.n_rows(),
            distinct_rows: table.n_distinct(),
            dropped_rows: table.n_dropped(),
            score_name: config.score.to_string(),
            score: learnt.score,
            upper_bound: certificate.map(|certificate| certificate.upper_bound),
            gap: certificate.map(Certificate::gap),
            is_proven: certificate.is_some_and(|certificate| certificate.is_complete && certificate.is_proven()),
            arcs: learnt.network.structure().n_arcs(),
            parameters: learnt.network.n_parameters(),
            families_scored: learnt.n_families,
        }
    }
}

/// How two networks over the same variables differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The structural Hamming distance of the equivalence classes.
    pub shd: usize,
    /// That of the structures as they stand.
    pub shd_dags: usize,
    /// Linked pairs, whatever the direction, the second network being the truth.
    pub pairs: Confusion,
}

impl Comparison {
    /// Compares a network with a true one.
    ///
    /// # Errors
    /// If one has a variable that the other does not have.
    pub fn of(learnt: &Network, truth: &Network) -> Result<Comparison, Error> {
        for (names, others, what) in [
            (learnt.names(), truth.names(), "the second network"),
            (truth.names(), learnt.names(), "the first network"),
        ] {
            if let Some(name) = names.iter().find(|name| others.binary_search(name).is_err()) {
                return Err(Error::UnknownVariable { what: what.to_owned(), name: name.clone() });
            }
        }
        let (own, other) = (learnt.cpdag(), truth.cpdag());
        Ok(Comparison {
            shd: shd(&own, &other),
            shd_dags: shd_dags(learnt.structure(), truth.structure()),
            pairs: Confusion::of(&own, &other),
        })
    }
}
