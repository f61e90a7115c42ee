//! The error of this crate.

/// What can go wrong between a matrix and a posterior, or between a graph and its score.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {}
