//! [`check_dag`]: is it a DAG, and if not, which nodes are to blame.

use pace_graph::{Dag, Error as GraphError, Named};

use crate::error::{Error, shortened};

/// Checks that a graph is a DAG of at least one node with a finite target; `name` says what the file calls a node.
///
/// # Errors
/// What is wrong, with the names of the nodes.
pub(crate) fn check_dag(graph: &Named, name: &dyn Fn(usize) -> String) -> Result<(), Error> {
    if let Some(value) = graph.target.filter(|value| !value.is_finite()) {
        return Err(Error::BadTarget { field: "target".to_owned(), value: value.to_string() });
    }
    let name = |node: usize| shortened(&name(node));
    let Err(error) = Dag::new(vec![0; graph.ops.len()], graph.edges.iter().copied()) else { return Ok(()) };
    Err(match error {
        GraphError::NoNodes => Error::NoNodes,
        GraphError::SelfLoop { node } => Error::SelfLoop { node: name(node) },
        GraphError::DuplicateEdge { from, to } => Error::DuplicateEdge { from: name(from), to: name(to) },
        GraphError::Cycle { node } => Error::Cycle { node: name(node) },
        other => Error::Graph(other),
    })
}

/// [`check_dag`] for graphs on their way out, whose nodes have numbers only.
pub(crate) fn check_written(graph: &Named, row: usize) -> Result<(), Error> {
    let numbered = |node: usize| node.to_string();
    check_dag(graph, &numbered)
        .map_err(|reason| reason.at("the graphs to write", crate::error::Place::Graph(row, graph.id.clone())))
}
