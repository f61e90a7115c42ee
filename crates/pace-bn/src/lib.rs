//! Bayesian networks from discrete data: from a CSV to a network, its probabilities, and a proof of how good it is.
//!
//! Data flows one way. [`read_csv`] makes a [`Table`]: the distinct rows of discrete variables, sorted by name, so that no result
//! depends on the order of columns or rows. A [`Scorer`] counts it and scores families (a variable and its parents) by
//! [`ScoreKind`]: log-likelihood, AIC, BIC or BDeu. Searches propose a [`Structure`]:
//!
//! | search | what it gives |
//! |---|---|
//! | [`climb`] | hill climbing and tabu search on arcs, with restarts |
//! | [`search_orders`] | the best structures that agree with orders of the variables |
//! | [`search_near`] | the same among the families near a good structure, for hundreds of variables |
//! | [`certify`] | the best network within a limit of parents, or the best known one and a bound on how much better another can be |
//!
//! [`fit`] adds probabilities, which makes a [`Network`]; it goes out as BIF, GraphViz, GraphML or JSON. [`Strengths`] say how
//! sure each arc is, [`Cpdag`] what the data can tell at all, and [`shd`] how far two networks are apart. [`learn`] does all
//! of it in one call.
//!
//! This crate reads no files and no clocks and sets no threads: it takes readers and text, and a closure that says when to stop.
//! What is random is seeded. Scores are whole numbers of 2^-40 nats ([`Points`]), so they do not depend on the order of
//! summation, and networks that no data can tell apart have equal scores to the last bit.
//!
//! ```
//! use pace_bn::{CsvOptions, LearnConfig, Limits, learn, read_csv, write_bif};
//!
//! let csv = "rain,grass,sprinkler\n".to_owned()
//!     + &"yes,wet,off\n".repeat(20)
//!     + &"no,wet,on\n".repeat(30)
//!     + &"no,dry,off\n".repeat(45)
//!     + &"yes,dry,off\n".repeat(5);
//! let table = read_csv(csv.as_bytes(), "grass.csv", &CsvOptions::default())?;
//! let learnt = learn(&table, &LearnConfig::default(), &Limits::default())?;
//! let certificate = learnt.certificate.as_ref().unwrap();
//! assert!(certificate.is_proven());
//! assert_eq!(learnt.network.structure().n_arcs(), 3);
//! assert!(write_bif(&learnt.network).contains("probability ( grass | rain, sprinkler )"));
//! # Ok::<(), pace_bn::Error>(())
//! ```

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
pub use search::{ClimbConfig, Found, Limits, NearConfig, OrderConfig, Progress, climb, search_near, search_orders};
pub use strength::{BootstrapConfig, Strengths};
pub use structure::{Confusion, Cpdag, Link, Structure, shd, shd_dags};
