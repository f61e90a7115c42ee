//! Surrogates, oracles and Bayesian optimisation over directed acyclic graphs.
//!
//! Vectors of graphs come in as a [`Matrix`]; a [`surrogate`] is fitted to them and their scores; an [`acquisition`] says
//! from its belief what to evaluate next; an [`oracle`] says how good a graph really is.

pub mod acquisition;
mod error;
pub mod oracle;
pub mod surrogate;

pub use error::Error;

/// Rows of vectors, in double precision.
pub type Matrix = faer::Mat<f64>;
