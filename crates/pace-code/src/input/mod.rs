//! Where functions come from: files, folders of files, and JSON lines.
//!
//! Both iterators parse a block at a time, in parallel, and hand the functions on in order. What cannot be read is an error
//! in its place, with file and line; the rest goes on.

mod corpus;
mod file;
mod folder;

use crate::function::Function;

pub use corpus::Corpus;
pub use folder::Folder;

use serde::{Deserialize, Serialize};

/// Which part of a dataset a function belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// For training, and the only part that vocabularies are made from.
    Train,
    /// For choices between models.
    #[serde(alias = "validation", alias = "val", alias = "dev")]
    Valid,
    /// For the numbers that are reported.
    Test,
}

/// Where a function was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Its file.
    pub path: String,
    /// Its project; empty if unknown.
    pub project: String,
    /// The version of the project; empty if unknown.
    pub version: String,
    /// Its part of the dataset, if there are parts.
    pub part: Option<Part>,
}

/// A function and where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Where it was found.
    pub origin: Origin,
    /// The function.
    pub function: Function,
}

/// What an iterator has met so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files or rows, good and bad.
    pub n_sources: usize,
    /// Functions handed on.
    pub n_functions: usize,
    /// Functions that the filter refused.
    pub n_refused: usize,
    /// Files, folders or rows that could not be read.
    pub n_errors: usize,
}
