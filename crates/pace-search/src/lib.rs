//! Surrogates, oracles and Bayesian optimisation over directed acyclic graphs.
//!
//! Vectors of graphs come in as a [`Matrix`]; a [`surrogate`] is fitted to them and their scores; an [`oracle`] says how good
//! a graph really is.

mod error;
pub mod oracle;
pub mod surrogate;

pub use error::Error;

/// Rows of vectors, in double precision.
pub type Matrix = faer::Mat<f64>;
