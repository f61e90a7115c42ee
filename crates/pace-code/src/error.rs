//! The one error type of this crate: every message says what is wrong, where, and what to do about it.

use std::io;

/// Everything that can be wrong with a source, a file or a vocabulary.
///
/// What is wrong with a source is a *reason*: readers wrap it in [`Error::File`] or [`Error::Row`], so that what reaches a
/// user names the place as well.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A source without a statement.
    #[error("the source holds no statement; leave it out")]
    Empty,
    /// Source that is not Python.
    #[error("line {line}: {message}; correct the source or leave it out")]
    Syntax {
        /// Line, counted from 1.
        line: usize,
        /// What the parser says.
        message: String,
    },
    /// Bytes that are not UTF-8.
    #[error("line {line}: not UTF-8; save the source as UTF-8")]
    NotUtf8 {
        /// The line of the first wrong byte, counted from 1.
        line: usize,
    },
    /// A byte that no Python source may hold.
    #[error("line {line}: a null byte, which Python refuses; remove it")]
    NullByte {
        /// Line, counted from 1.
        line: usize,
    },
    /// More source than is read.
    #[error("{n_bytes} bytes of source, and at most {max_bytes} are read; split it or leave it out")]
    TooLarge {
        /// Bytes found.
        n_bytes: u64,
        /// Bytes allowed.
        max_bytes: u64,
    },
    /// Deeper nesting than is parsed.
    #[error(
        "more than {max_depth} levels of brackets, operators and blocks, or a bracket or a string without end; split the source or leave it out"
    )]
    TooDeep {
        /// Levels allowed.
        max_depth: usize,
    },
    /// An integer that CPython refuses to print.
    #[error("line {line}: an integer of more than {max_digits} digits, which Python does not print; shorten it")]
    HugeInteger {
        /// Line, counted from 1.
        line: usize,
        /// Decimal digits allowed.
        max_digits: usize,
    },
    /// A source that should be one function.
    #[error("expected one function and nothing else, found {found}; cut the function out of its module")]
    NotOneFunction {
        /// What is there instead.
        found: String,
    },
    /// A row that is not a JSON object with the field `code`.
    #[error("{message}; a row is an object with the string `code`, and `split` is train, valid or test")]
    Json {
        /// What the JSON reader says.
        message: String,
    },
    /// A reason, with the file it applies to.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        #[source]
        reason: Box<Error>,
    },
    /// A reason, with the file and row it applies to.
    #[error("{file}, row {row}: {reason}")]
    Row {
        /// The file, as the caller named it.
        file: String,
        /// Row, counted from 1.
        row: usize,
        /// What is wrong there.
        #[source]
        reason: Box<Error>,
    },
    /// The operating system refused to read.
    #[error("cannot read {path}: {source}; check that it exists and may be read")]
    Io {
        /// The file or folder.
        path: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The operating system gave no thread with a stack for a deep source.
    #[error(
        "no thread with a stack of {n_bytes} bytes for a large source: {source}; free memory or leave the source out"
    )]
    Thread {
        /// Size of the stack.
        n_bytes: usize,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A list of words that is no vocabulary.
    #[error("the vocabulary lacks `{word}`; make it from training functions or take the whole mapping file")]
    Vocabulary {
        /// The word that every such vocabulary has.
        word: &'static str,
    },
}

impl Error {
    /// Wraps a reason with its file.
    pub(crate) fn in_file(self, path: &str) -> Error {
        Error::File { path: path.to_owned(), reason: Box::new(self) }
    }

    /// Wraps a reason with its file and its row, counted from 1.
    pub(crate) fn at(self, file: &str, row: usize) -> Error {
        Error::Row { file: file.to_owned(), row, reason: Box::new(self) }
    }
}
