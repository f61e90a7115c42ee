//! The one error type of this crate: every message says what is wrong, where, and what to do about it.

/// Everything that can be wrong with data, with a network file, or with what is asked of a search.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A line of a table that cannot be used.
    #[error("{file}: line {line}: {reason}")]
    Line {
        /// The file, as the caller named it.
        file: String,
        /// The line, counted from 1; the header is line 1.
        line: u64,
        /// What is wrong there, and what to do.
        reason: String,
    },
    /// A column of a table that cannot be used.
    #[error("{file}: column '{column}': {reason}")]
    Column {
        /// The file, as the caller named it.
        file: String,
        /// The name of the column.
        column: String,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// A table that cannot be used as a whole.
    #[error("{file}: {reason}")]
    Table {
        /// The file, as the caller named it.
        file: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A network file that does not follow the format, or describes no Bayesian network.
    #[error("{file}: line {line}: {reason}")]
    Network {
        /// The file, as the caller named it.
        file: String,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong there, and what to do.
        reason: String,
    },
    /// A structure with a directed cycle.
    #[error("the arcs form a cycle through '{name}'; a Bayesian network has none, remove one of its arcs")]
    Cycle {
        /// A variable on the cycle.
        name: String,
    },
    /// Two things that should be about the same variables are not.
    #[error("{what} has no variable '{name}'; compare networks and data over the same variables")]
    UnknownVariable {
        /// What the variable was looked for in.
        what: String,
        /// The variable.
        name: String,
    },
    /// A value that the network does not know.
    #[error("variable '{name}' has the level '{level}', which the network does not know; it knows {known}")]
    UnknownLevel {
        /// The variable.
        name: String,
        /// The level in the data.
        level: String,
        /// The levels of the network.
        known: String,
    },
    /// An option out of its range.
    #[error("{option} is {value}; {remedy}")]
    Option {
        /// The option.
        option: &'static str,
        /// What it was set to.
        value: String,
        /// What it may be.
        remedy: String,
    },
    /// More work than a method can do.
    #[error("{what}: {count}, at most {max} can be searched; {remedy}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much there is.
        count: u64,
        /// How much is allowed.
        max: u64,
        /// What to do.
        remedy: &'static str,
    },
    /// JSON that could not be written.
    #[error("the result cannot be written as JSON ({0}); report this as a bug")]
    Json(#[from] serde_json::Error),
}
