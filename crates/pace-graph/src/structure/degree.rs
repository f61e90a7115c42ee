//! Degrees, for Graphormer's centrality encoding and the normalised Laplacian.

use crate::dag::Dag;

/// How many predecessors every node has. O(n + m).
pub fn in_degrees(dag: &Dag) -> Vec<usize> {
    let mut degrees = vec![0; dag.n_nodes()];
    dag.edges().for_each(|(_, to)| degrees[to] += 1);
    degrees
}

/// How many successors every node has. O(n + m).
pub fn out_degrees(dag: &Dag) -> Vec<usize> {
    let mut degrees = vec![0; dag.n_nodes()];
    dag.edges().for_each(|(from, _)| degrees[from] += 1);
    degrees
}
