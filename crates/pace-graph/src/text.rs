//! The one-line text form of a DAG: operations, a colon, edges.
//!
//! ```text
//! 0 2 3 1 : 0>1 0>2 1>3 2>3
//! ```
//!
//! Four nodes with operations 0, 2, 3 and 1, and four edges `from>to` between node numbers. A
//! [`DagSpec`](crate::DagSpec) also reads operations by name ([`DagSpec::parse`](crate::DagSpec::parse)).

use std::fmt;
use std::str::FromStr;

use crate::dag::{Dag, Op};
use crate::error::Error;

/// Parses the text form; `parse_op` reads the operation of a node (its number and its word).
pub(crate) fn parse_dag(text: &str, mut parse_op: impl FnMut(usize, &str) -> Result<Op, Error>) -> Result<Dag, Error> {
    let (ops, edges) = text.split_once(':').unwrap_or((text, ""));
    let ops =
        ops.split_whitespace().enumerate().map(|(node, word)| parse_op(node, word)).collect::<Result<Vec<_>, _>>()?;
    let edges = edges.split_whitespace().map(parse_edge).collect::<Result<Vec<_>, _>>()?;
    Dag::new(ops, edges)
}

fn parse_edge(word: &str) -> Result<(usize, usize), Error> {
    let edge = word.split_once('>').and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    edge.ok_or_else(|| Error::syntax("an edge written from>to, such as 0>2", word))
}

impl FromStr for Dag {
    type Err = Error;

    fn from_str(text: &str) -> Result<Dag, Error> {
        parse_dag(text, |_, word| {
            word.parse().map_err(|_| Error::syntax(format!("an operation number from 0 to {}", Op::MAX), word))
        })
    }
}

impl fmt::Display for Dag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for op in self.ops() {
            write!(f, "{op} ")?;
        }
        f.write_str(":")?;
        self.edges().try_for_each(|(from, to)| write!(f, " {from}>{to}"))
    }
}
