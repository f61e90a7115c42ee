//! The error of this crate.

/// What can go wrong between a matrix and a posterior, or between a graph and its score.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A graph that the oracle cannot score.
    #[error("graph {graph}: {reason}")]
    Graph {
        /// Its index in the slice that was to be scored.
        graph: usize,
        /// What is wrong with it.
        #[source]
        reason: pace_graph::Error,
    },
    /// A table of observations that is not one.
    #[error("{file}, row {row}: {reason}")]
    Observation {
        /// The file, as the caller named it.
        file: String,
        /// Line, counted from 1 (the header).
        row: usize,
        /// What is wrong there, and what to do.
        reason: String,
    },
    /// More variables than local scores can be tabulated for.
    #[error("{n_variables} variables, but a table of all parent sets holds at most {max}; drop some columns")]
    TooManyVariables {
        /// Columns found.
        n_variables: usize,
        /// Columns allowed.
        max: usize,
    },
    /// Weights that do not belong to this version of the surrogate.
    #[error("these are not weights of the '{surrogate}' surrogate: {reason}; train them again")]
    Weights {
        /// The surrogate that was asked for.
        surrogate: &'static str,
        /// What does not fit.
        reason: String,
    },
    /// Too few labelled graphs to fit and to check a surrogate.
    #[error("{n_rows} labelled graphs, but the surrogate wants at least {wanted}; give it the whole table")]
    TooFewRows {
        /// Graphs found.
        n_rows: usize,
        /// Graphs wanted.
        wanted: usize,
    },
}
