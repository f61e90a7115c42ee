//! The error of this crate.

/// Everything that can go wrong in this crate. Drawings, charts and pages always succeed; maps want data that fits together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not as many scores or graphs as vectors.
    #[error("{n_vectors} vectors, but {n_scores} scores and {n_dags} graphs; give a map one of each per point")]
    Lengths {
        /// Rows of the vectors.
        n_vectors: usize,
        /// How many scores.
        n_scores: usize,
        /// How many graphs.
        n_dags: usize,
    },
    /// Nothing to show.
    #[error("no point has a finite vector and a finite score; a map needs at least one")]
    NoPoints,
    /// The principal axes could not be computed.
    #[error("the covariance of the vectors has no spectrum; scale the vectors to moderate size")]
    Spectrum,
}
