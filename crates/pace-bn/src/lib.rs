//! Bayesian networks.

mod data;
mod error;
mod exact;
mod export;
mod learn;
mod network;
mod score;
mod search;
mod strength;
mod structure;

pub use data::{BinRule, Bins, CsvOptions, Table, read_csv};
pub use error::Error;
pub use exact::{CandidateConfig, Candidates, Certificate, ExactConfig, Family, certify};
pub use export::{JsonArc, JsonNetwork, JsonVariable, write_dot, write_graphml};
pub use learn::{Comparison, LearnConfig, Learnt, Method, Summary, learn};
pub use network::{Cpt, Network, RandomNetwork, Sample, fit, parse_bif, write_bif};
pub use score::{Points, ScoreKind, Scorer};
pub use search::{ClimbConfig, Found, Limits, OrderConfig, Progress, climb, search_orders};
pub use strength::{BootstrapConfig, Strengths};
pub use structure::{Confusion, Cpdag, Link, Structure, shd, shd_dags};
