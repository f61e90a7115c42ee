//! Surrogates, oracles and Bayesian optimisation over directed acyclic graphs.
//!
//! Vectors of graphs come in as a [`Matrix`]; a [`surrogate`] is fitted to them and their scores; an [`acquisition`] says
//! from its belief how much an evaluation would be worth; an [`oracle`] says how good a graph really is. A [`strategy`] looks
//! at a [`History`] and says which graphs of a [`space`] to ask the oracle about next; [`run`] does the asking, and writes it
//! down in a [`Journal`] that survives a crash.

pub mod acquisition;
mod candidate;
mod curve;
mod error;
mod history;
pub mod journal;
pub mod oracle;
mod run;
pub mod space;
pub mod strategy;
pub mod surrogate;

pub use candidate::{Candidate, Origin};
pub use curve::{Band, Curve, Trace};
pub use error::Error;
pub use history::{Entry, History, Outcome};
pub use journal::{Header, Journal};
pub use run::{Step, run, run_in_memory};

/// Rows of vectors, in double precision.
pub type Matrix = faer::Mat<f64>;
