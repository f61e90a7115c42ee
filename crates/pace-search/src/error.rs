//! The error of this crate.

/// Everything that can go wrong in this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A matrix without rows or columns.
    #[error("{rows} rows of {columns} columns hold nothing to fit; give at least one row and one column")]
    EmptyInput {
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
    },
    /// Not as many targets as vectors.
    #[error("{rows} vectors but {targets} targets; give one target for each row")]
    TargetCount {
        /// Rows of the matrix.
        rows: usize,
        /// Length of the targets.
        targets: usize,
    },
    /// A vector with a number that is not finite.
    #[error("the vector in row {row} holds {value} in column {column}; drop the row or repair whatever computed it")]
    BadVector {
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The number found there.
        value: f64,
    },
    /// A vector with a number too large to compute with.
    #[error(
        "the vector in row {row} holds {value:e} in column {column}, and {largest:e} is the most; scale the column"
    )]
    HugeVector {
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The number found there.
        value: f64,
        /// The largest that is allowed.
        largest: f64,
    },
    /// A target too large to compute with.
    #[error("the target of row {row} is {value:e}, and {largest:e} is the most; scale the scores")]
    HugeTarget {
        /// Row, counted from 0.
        row: usize,
        /// The number found there.
        value: f64,
        /// The largest that is allowed.
        largest: f64,
    },
    /// A target that is not finite.
    #[error("the target of row {row} is {value}; drop the row or repair the score")]
    BadTarget {
        /// Row, counted from 0.
        row: usize,
        /// The number found there.
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
    /// A matrix that is not positive definite, even with the largest jitter allowed.
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
    /// A training that diverged.
    #[error("the network diverges at step {step} of {n_steps}; lower the learning rate")]
    Diverged {
        /// Step, counted from 1.
        step: usize,
        /// Steps planned.
        n_steps: usize,
    },
    /// A graph that the oracle cannot score.
    #[error("graph {graph}: {reason}")]
    Graph {
        /// Its index in the slice that was to be scored.
        graph: usize,
        /// What is wrong with it.
        #[source]
        reason: pace_graph::Error,
    },
    /// A table of observations that cannot be read.
    #[error("{file}, row {row}: {reason}")]
    Observation {
        /// The file, as the caller named it.
        file: String,
        /// Line, counted from 1 (the header).
        row: usize,
        /// What is wrong there, and what to do.
        reason: String,
    },
    /// Too many variables for a table of local scores.
    #[error("{n_variables} variables, but a table of all parent sets holds at most {max}; drop some columns")]
    TooManyVariables {
        /// Columns found.
        n_variables: usize,
        /// Columns allowed.
        max: usize,
    },
    /// Weights of another surrogate, or of another version of it.
    #[error("these are not weights of the '{surrogate}' surrogate: {reason}; train them again")]
    Weights {
        /// The surrogate that was asked for.
        surrogate: &'static str,
        /// What does not fit.
        reason: String,
    },
    /// Too few labelled graphs to fit a surrogate and to test it.
    #[error("{n_rows} labelled graphs, but the surrogate wants at least {wanted}; give it the whole table")]
    TooFewRows {
        /// Graphs found.
        n_rows: usize,
        /// Graphs wanted.
        wanted: usize,
    },
    /// A file that could not be read or written.
    #[error("{path}: {reason}; check the path, the permissions and the free space")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        #[source]
        reason: std::io::Error,
    },
    /// A journal with a line that cannot be read.
    #[error("{path}, line {line}: {reason}")]
    Journal {
        /// The file.
        path: String,
        /// Line, counted from 1 (the header).
        line: usize,
        /// What is wrong there, and what to do.
        reason: String,
    },
    /// A journal of another search.
    #[error("{path} is the journal of another search: its {field} is {found}, not {wanted}; take another file")]
    JournalHeader {
        /// The file.
        path: String,
        /// Which field of the header differs.
        field: &'static str,
        /// What the file says.
        found: String,
        /// What was asked for.
        wanted: String,
    },
    /// A journal that another search is writing.
    #[error(
        "{path} belongs to a search that is still running ({holder}); stop that one, or join the journal to answer only"
    )]
    JournalBusy {
        /// The file.
        path: String,
        /// The process that runs the other search.
        holder: pace_graph::disk::Busy,
    },
    /// A journal that somebody has locked for very long.
    #[error(
        "{path} has been locked by another process for a minute; see what `lsof {path}` says, and end that process"
    )]
    JournalStuck {
        /// The file.
        path: String,
    },
    /// Two studies that are not of one search.
    #[error("{what} {id} is another one in the study to copy to; copy to an empty study")]
    CopyDiffers {
        /// Query or answer.
        what: &'static str,
        /// Its number.
        id: usize,
    },
    /// An address of a database that cannot be used.
    #[cfg(feature = "postgres")]
    #[error("{address}: {reason}")]
    Address {
        /// The address, without user and password.
        address: String,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// A database that refuses or cannot be reached.
    #[cfg(feature = "postgres")]
    #[error("{study}: {reason}; check the server, the address and the rights of its user")]
    Database {
        /// The study.
        study: String,
        /// What the server or the system said.
        reason: String,
    },
    /// Tables of a newer version of this crate.
    #[cfg(feature = "postgres")]
    #[error(
        "{study}: the tables have version {found}, and this program knows versions up to {known}; take a newer one"
    )]
    NewerTables {
        /// The study.
        study: String,
        /// Version of the tables.
        found: i32,
        /// The newest version that this crate knows.
        known: i32,
    },
    /// A study of another search.
    #[cfg(feature = "postgres")]
    #[error("{study} belongs to another search: its {field} is {found}, not {wanted}; take another name")]
    StudyHeader {
        /// The study.
        study: String,
        /// Which field of the header differs.
        field: &'static str,
        /// What the database says.
        found: String,
        /// What was asked for.
        wanted: String,
    },
    /// A study that is not in the database, or no more.
    #[cfg(feature = "postgres")]
    #[error("{study}: there is no such study, but {others}; start its search first, or correct the name")]
    NoStudy {
        /// The study.
        study: String,
        /// The names that are there, in words.
        others: String,
    },
    /// A row of the database that does not fit.
    #[cfg(feature = "postgres")]
    #[error("{study}, query {id}: {reason}")]
    StudyRow {
        /// The study.
        study: String,
        /// The query.
        id: i64,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// An answer that the history refuses.
    #[error("the answer to query {id} cannot be taken: {reason}")]
    Answer {
        /// The query.
        id: usize,
        /// Why not, and what to do.
        reason: String,
    },
    /// A candidate of another space.
    #[error("candidate {dag} has {missing}; search it in the space it came from")]
    Stranger {
        /// The graph, as text.
        dag: String,
        /// What the space needs and the candidate lacks.
        missing: &'static str,
    },
    /// A strategy that lacks something it needs.
    #[error("{strategy} needs {missing}; give it one, or choose another strategy")]
    Unequipped {
        /// Name of the strategy.
        strategy: &'static str,
        /// What is missing.
        missing: &'static str,
    },
    /// A row that a table of scores refuses.
    #[error("row {row} of the table: {reason}")]
    TableRow {
        /// Row, counted from 0.
        row: usize,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// A graph that the table does not hold.
    #[error("graph {graph} is not among the {n_rows} of the table; propose only graphs that are")]
    NotInTable {
        /// Its index in the slice that was to be scored.
        graph: usize,
        /// Graphs in the table.
        n_rows: usize,
    },
    /// A file that does not hold the expected network.
    #[error("{file}: {reason}")]
    Network {
        /// The file, as the caller named it.
        file: String,
        /// What is wrong with it, and what to do.
        reason: String,
    },
}
