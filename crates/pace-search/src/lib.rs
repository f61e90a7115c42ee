//! Searches for the best of many directed acyclic graphs, by Bayesian optimisation and by simpler strategies.
//!
//! The principal function is [`run`]. It asks a [`Strategy`](strategy::Strategy) which graphs to try next, asks an
//! [`Oracle`](oracle::Oracle) how good they are, and writes both down in a [`Study`], usually a [`Journal`]. A search that was
//! killed resumes from its journal as if nothing had happened. [`run_in_memory`] does the same without a file, and
//! [`run_shared`] with many processes, on many hosts if their study is in a database.
//!
//! # Example
//!
//! The best of 300 neural architectures, found by Bayesian optimisation with 40 queries:
//!
//! ```
//! use pace_graph::{Dag, Vectors};
//! use pace_search::acquisition::{AcquisitionConfig, LogExpectedImprovement};
//! use pace_search::oracle::{NaSurrogate, Oracle, embedded_na};
//! use pace_search::space::{Listed, Pool};
//! use pace_search::strategy::{BayesianOptimisation, BayesianOptimisationConfig};
//! use pace_search::surrogate::{SparseGpConfig, SurrogateConfig};
//!
//! // The space: 300 architectures, each with a vector. Here it says which of 6 operations each of 6 layers has.
//! let dags: Vec<Dag> = embedded_na(300, 0)?.samples.into_iter().map(|sample| sample.dag).collect();
//! let is_op = |dag: &Dag, layer: usize, op: usize| f32::from(usize::from(dag.op(layer + 1)) == op + 2);
//! let vectors = dags.iter().flat_map(|dag| (0..36).map(|i| is_op(dag, i / 6, i % 6))).collect();
//! let graphs = Listed::new(dags);
//! let space = Pool::new(&graphs, Vectors::new(vectors, 36))?;
//!
//! // The strategy: a Gaussian process guesses scores, and expected improvement says where to look next.
//! let gp = SparseGpConfig { n_inducing: 20, ..SparseGpConfig::default() };
//! let acquisition = AcquisitionConfig::LogExpectedImprovement(LogExpectedImprovement { xi: 0.0 });
//! let config = BayesianOptimisationConfig::new(SurrogateConfig::SparseGp(gp), acquisition);
//! let mut strategy = BayesianOptimisation::new(config, &space, 0)?;
//!
//! // The oracle: a small network that knows the accuracy of any architecture.
//! let oracle = NaSurrogate::embedded();
//! let trace = pace_search::run_in_memory(&mut strategy, oracle, 40, 4)?;
//!
//! let mut scores = oracle.evaluate(graphs.dags())?;
//! scores.sort_by(f64::total_cmp);
//! assert!(trace.best().unwrap() >= scores[290], "among the best ten");
//! # Ok::<(), pace_search::Error>(())
//! ```
//!
//! # The parts of a search
//!
//! Each is a trait with a few implementations, one file or folder each:
//!
//! - [`space`]: which graphs there are, and their vectors;
//! - [`surrogate`]: what is believed about the scores of vectors, given those that are known;
//! - [`acquisition`]: how much an evaluation would be worth, given that belief;
//! - [`strategy`]: what to ask next, given the [`History`] of a search;
//! - [`study`]: where queries and answers stand;
//! - [`oracle`]: how good a graph really is.
//!
//! [`Trace`], [`Curve`] and [`Band`] compare searches; [`metrics`] compares predictions with the truth.

pub mod acquisition;
mod answers;
mod candidate;
mod check;
mod copy;
mod curve;
mod error;
mod gp;
mod history;
mod known;
mod matrix;
pub mod metrics;
mod numerics;
pub mod oracle;
mod perceptron;
mod run;
mod setting;
mod share;
pub mod space;
pub mod strategy;
pub mod study;
pub mod surrogate;
mod taken;
mod token;

pub use candidate::{Candidate, Origin};
pub use copy::copy;
pub use curve::{Band, Curve, Trace};
pub use error::Error;
pub use history::{Entry, History, Outcome};
pub use known::Known;
pub use matrix::{Matrix, narrow, widen};
pub use run::{Step, run, run_in_memory};
pub use share::{Worker, answer, keep, run_shared};
#[cfg(feature = "postgres")]
pub use study::PostgresStudy;
pub use study::{Claim, Header, Journal, Study};
