//! The one error type of this crate: every message says what is wrong, where, and what to do about it.

use std::fmt;
use std::io;

use pace_graph::Error as GraphError;

/// Everything that can be wrong with a file of graphs or vectors.
///
/// Most variants are *reasons*: readers wrap them in [`Error::At`], so that what reaches a user names the file and the place in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A reason, with the file and the place it applies to.
    #[error("{file}{place}: {reason}")]
    At {
        /// The file, as the caller named it.
        file: String,
        /// Where in the file.
        place: Place,
        /// What is wrong there.
        #[source]
        reason: Box<Error>,
    },
    /// Text or bytes that do not follow the format.
    #[error("expected {expected}, found {found}")]
    Syntax {
        /// What the format expects here.
        expected: String,
        /// What is there instead, shortened.
        found: String,
    },
    /// The file ends in the middle of something.
    #[error("the file ends {place}; it is cut off, fetch or write it again")]
    Truncated {
        /// In the middle of what.
        place: String,
    },
    /// Bytes that are not UTF-8.
    #[error("not UTF-8; save the file as UTF-8")]
    NotUtf8,
    /// Compressed data that cannot be decompressed.
    #[error("the compressed data is damaged ({message}); fetch the file again")]
    Damaged {
        /// What the decompressor says.
        message: String,
    },
    /// More of something than is read.
    #[error("more than {max} {what}; {remedy}")]
    TooMuch {
        /// What there is too much of, in the plural.
        what: &'static str,
        /// How much is allowed.
        max: u64,
        /// What to do.
        remedy: &'static str,
    },
    /// Something that the format allows and that is no DAG, or that we do not read or write.
    #[error("{what}; {remedy}")]
    Unsupported {
        /// What is there.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A graph without nodes.
    #[error("the graph has no nodes; give it at least one, or leave it out")]
    NoNodes,
    /// A file without graphs.
    #[error("no graphs; give a file with at least one")]
    NoGraphs,
    /// Two nodes of the same name.
    #[error("node '{node}' is there twice; rename or remove one of them")]
    DuplicateNode {
        /// The name.
        node: String,
    },
    /// An edge from or to a node that the graph does not have.
    #[error(
        "edge '{from}' -> '{to}' names node '{missing}', which the graph does not have; add the node or remove the edge"
    )]
    DanglingEdge {
        /// Where the edge begins.
        from: String,
        /// Where the edge ends.
        to: String,
        /// The node that is missing.
        missing: String,
    },
    /// An edge from a node to itself.
    #[error("node '{node}' has an edge to itself; remove it, a DAG has none")]
    SelfLoop {
        /// The node.
        node: String,
    },
    /// The same edge twice.
    #[error("edge '{from}' -> '{to}' is there twice; keep one of them")]
    DuplicateEdge {
        /// Where the edge begins.
        from: String,
        /// Where the edge ends.
        to: String,
    },
    /// The edges close a cycle.
    #[error("the edges close a cycle through node '{node}'; remove or turn around one of its edges")]
    Cycle {
        /// A node on the cycle.
        node: String,
    },
    /// An attribute that was asked for and is not there.
    #[error("{owner} has no {kind} '{wanted}'; it has {has}")]
    NoAttribute {
        /// Which node, or the graph.
        owner: String,
        /// What is missing: an attribute or a value that can be read.
        kind: &'static str,
        /// The attribute asked for.
        wanted: String,
        /// The attributes that are there.
        has: String,
    },
    /// A target value that cannot be trained on.
    #[error("the target '{field}' is {value}, not a finite number; leave the graph out or repair the value")]
    BadTarget {
        /// The attribute it stands in.
        field: String,
        /// The value as given.
        value: String,
    },
    /// A number of a vector that cannot be used.
    #[error("row {row}, column {column}: {value} is no finite 32-bit number; leave the row out or repair it")]
    BadNumber {
        /// Row, counted from 1.
        row: usize,
        /// Column, counted from 1.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A format that nobody knows.
    #[error("unknown format '{name}'; choose one of {known}")]
    UnknownFormat {
        /// The name or the extension as given.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// What is wrong with a Python source.
    #[error(transparent)]
    Python(#[from] pace_code::Error),
    /// Anything that is wrong with a spec.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The operating system refused to read.
    #[error("cannot read {file}: {source}; check that it exists and may be read")]
    Io {
        /// The file or folder.
        file: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The operating system refused to write.
    #[error("cannot write: {source}; check the free space and the rights of the folder")]
    Write {
        /// What the system said.
        #[from]
        source: io::Error,
    },
    /// Whoever receives the graphs wants no more of them.
    #[error(transparent)]
    Sink(Box<dyn std::error::Error + Send + Sync>),
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// A line, counted from 1.
    Line(u64),
    /// A graph, counted from 1, and its name if it has one.
    Graph(usize, Option<String>),
    /// A byte, counted from 0.
    Byte(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => Ok(()),
            Place::Line(line) => write!(f, ", line {line}"),
            Place::Graph(row, None) => write!(f, ", graph {row}"),
            Place::Graph(row, Some(name)) => write!(f, ", graph {row} ('{}')", shortened(name)),
            Place::Byte(byte) => write!(f, ", byte {byte}"),
        }
    }
}

impl Error {
    /// Wraps a reason with its file and its place. What names its file already, or comes from the sink, stays as it is.
    pub(crate) fn at(self, file: &str, place: Place) -> Error {
        match self {
            Error::At { .. } | Error::Io { .. } | Error::Sink(_) => self,
            _ => Error::At { file: file.to_owned(), place, reason: Box::new(self) },
        }
    }

    /// A syntax error whose `found` is shortened to a length that fits a terminal.
    pub(crate) fn syntax(expected: impl Into<String>, found: &str) -> Error {
        let found = if found.is_empty() { "nothing".to_owned() } else { format!("'{}'", shortened(found)) };
        Error::Syntax { expected: expected.into(), found }
    }

    /// A syntax error that says what is there in words of ours.
    pub(crate) fn expected(expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::Syntax { expected: expected.into(), found: found.into() }
    }

    /// What a failed read means: cut off, damaged, or refused by the system.
    pub(crate) fn read(source: io::Error, file: &str) -> Error {
        match source.kind() {
            io::ErrorKind::UnexpectedEof => {
                Error::Truncated { place: "in the middle of compressed data".to_owned() }.at(file, Place::Whole)
            }
            // The operating system gives its errors a number; those without come from a decompressor that met damage.
            _ if source.raw_os_error().is_none() => {
                Error::Damaged { message: source.to_string() }.at(file, Place::Whole)
            }
            _ => Error::Io { file: file.to_owned(), source },
        }
    }
}

/// Text for a message: control characters escaped, and not longer than a terminal is wide.
pub(crate) fn shortened(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut shown = String::new();
    for (index, letter) in text.chars().enumerate() {
        match letter {
            _ if index == SHOWN => return shown + "...",
            '"' | '\'' | '\\' => shown.push(letter),
            _ => shown.extend(letter.escape_debug()),
        }
    }
    shown
}
