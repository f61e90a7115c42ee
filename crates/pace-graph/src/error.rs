//! The one error type of this crate: every message says what is wrong and what to do about it.

use std::io;

/// Everything that can be wrong with a DAG, a text, or a dataset file.
///
/// Graph and rule variants are *reasons*: a reader wraps them in [`Error::Row`], so that what reaches a user names file
/// and row as well.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No nodes at all.
    #[error("the graph has no nodes; give it at least one operation")]
    NoNodes,
    /// An edge from a node to itself.
    #[error("edge {node}>{node} is a self loop; remove it, a DAG has none")]
    SelfLoop {
        /// The node at both ends.
        node: usize,
    },
    /// The same edge twice.
    #[error("edge {from}>{to} is given twice; keep one of them")]
    DuplicateEdge {
        /// Source node.
        from: usize,
        /// Target node.
        to: usize,
    },
    /// An edge that names a node the graph does not have.
    #[error(
        "edge {from}>{to} names a node outside 0..{n_nodes}; nodes are numbered from 0 in the order of their operations"
    )]
    EdgeOutOfRange {
        /// Source node.
        from: usize,
        /// Target node.
        to: usize,
        /// How many nodes the graph has.
        n_nodes: usize,
    },
    /// The edges close a cycle.
    #[error("the edges close a cycle through node {node}; remove or turn around one of its edges")]
    Cycle {
        /// A node on the cycle.
        node: usize,
    },
    /// An operation that the [`DagSpec`](crate::DagSpec) does not list.
    #[error(
        "node {node} has operation '{op}', which is not in the dictionary of '{spec}' ({known}); correct it or extend the dictionary"
    )]
    UnknownOp {
        /// The node.
        node: usize,
        /// The operation as given.
        op: String,
        /// Name of the spec.
        spec: String,
        /// The operations that exist.
        known: String,
    },
    /// More nodes than the spec allows.
    #[error("{n_nodes} nodes, but '{spec}' allows at most {max_nodes}; drop the row or raise the limit of the spec")]
    TooManyNodes {
        /// Nodes found.
        n_nodes: usize,
        /// Nodes allowed.
        max_nodes: usize,
        /// Name of the spec.
        spec: String,
    },
    /// A node without the predecessor or successor that the spec asks for.
    #[error(
        "node {node} is disconnected: it has no {missing}, and '{spec}' wants every node on a path from input to output; connect it or drop it"
    )]
    Disconnected {
        /// The node.
        node: usize,
        /// `"predecessor"` or `"successor"`.
        missing: &'static str,
        /// Name of the spec.
        spec: String,
    },
    /// Any other validity rule of a spec.
    #[error("not a valid '{spec}' graph: {rule}")]
    Rule {
        /// Name of the spec.
        spec: String,
        /// The broken rule, and what would keep it.
        rule: String,
    },
    /// A target value that cannot be trained on.
    #[error("the target is {value}, not a finite number; drop the row or repair the value")]
    BadTarget {
        /// The value as given.
        value: String,
    },
    /// Text that does not follow its format.
    #[error("expected {expected}, found {found}")]
    Syntax {
        /// What the format expects here.
        expected: String,
        /// What is there instead, shortened.
        found: String,
    },
    /// A reason, with the file and row it applies to.
    #[error("{file}, row {row}: {reason}")]
    Row {
        /// The file, as the caller named it.
        file: String,
        /// Row (line, record or graph), counted from 1.
        row: usize,
        /// What is wrong there.
        #[source]
        reason: Box<Error>,
    },
    /// The file ends in the middle of a record.
    #[error("{file} is cut off after {rows} whole rows: {detail}; fetch it again")]
    Truncated {
        /// The file, as the caller named it.
        file: String,
        /// Rows that were whole.
        rows: usize,
        /// Where it broke off.
        detail: String,
    },
    /// A file that differs from what its checksum promises.
    #[error(
        "{file}, row {row}: checksum {found}, expected {expected}; the file is damaged or another version, fetch it again"
    )]
    Checksum {
        /// The file, as the caller named it.
        file: String,
        /// Row (record), counted from 1; 0 for the file as a whole.
        row: usize,
        /// The promised checksum.
        expected: String,
        /// The checksum of what is there.
        found: String,
    },
    /// No rows.
    #[error("{file} holds no graphs; give a file with at least one row{hint}")]
    EmptyDataset {
        /// The file, as the caller named it.
        file: String,
        /// What may have gone wrong, with its own leading punctuation; may be empty.
        hint: String,
    },
    /// The operating system refused.
    #[error("cannot read {file}: {source}; check that the path exists and may be read")]
    Io {
        /// The file, as the caller named it.
        file: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl Error {
    /// Wraps a reason with its file and its row, counted from 1.
    pub fn at(self, file: &str, row: usize) -> Error {
        Error::Row { file: file.to_owned(), row, reason: Box::new(self) }
    }

    /// A syntax error whose `found` is shortened to a length that fits a terminal.
    pub fn syntax(expected: impl Into<String>, found: &str) -> Error {
        const SHOWN: usize = 40;
        let found = match found.char_indices().nth(SHOWN) {
            _ if found.is_empty() => "nothing".to_owned(),
            Some((cut, _)) => format!("'{}...'", found[..cut].escape_debug()),
            None => format!("'{}'", found.escape_debug()),
        };
        Error::Syntax { expected: expected.into(), found }
    }
}
