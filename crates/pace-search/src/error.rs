//! The error of this crate.

/// What can go wrong between a matrix and a posterior, or between a graph and its score.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing to fit.
    #[error("{rows} rows of {columns} columns hold nothing to fit; give at least one row and one column")]
    EmptyInput {
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
    },
    /// As many vectors as targets are needed.
    #[error("{rows} vectors but {targets} targets; give one target for each row")]
    TargetCount {
        /// Rows of the matrix.
        rows: usize,
        /// Length of the targets.
        targets: usize,
    },
    /// A vector that cannot be computed with.
    #[error("the vector in row {row} holds {value} in column {column}; drop the row or repair whatever computed it")]
    BadVector {
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// What stands there.
        value: f64,
    },
    /// A target that cannot be fitted.
    #[error("the target of row {row} is {value}; drop the row or repair the score")]
    BadTarget {
        /// Row, counted from 0.
        row: usize,
        /// What stands there.
        value: f64,
    },
    /// A setting outside its range.
    #[error("{name} is {value}, but {range}; correct the configuration")]
    BadSetting {
        /// Name of the field.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        range: &'static str,
    },
    /// A matrix that should be positive definite is not, even with the largest jitter allowed.
    #[error(
        "the Cholesky factorisation of {what} fails at pivot {pivot} of {size} with jitter {jitter:e}; use fewer \
         inducing points or a larger jitter"
    )]
    NotPositiveDefinite {
        /// Which matrix, in words.
        what: &'static str,
        /// Index of the pivot that is not positive.
        pivot: usize,
        /// Number of rows.
        size: usize,
        /// The last jitter tried, relative to the signal variance.
        jitter: f64,
    },
}
