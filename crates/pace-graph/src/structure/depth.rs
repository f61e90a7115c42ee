//! Topological order and depths.

use crate::dag::Dag;

/// A topological order (Kahn's algorithm, smallest index first among the sources found). O(n + m).
///
/// It depends on the numbering: for an order that does not, use [`canonical_order`](crate::canonical_order).
pub fn topological_order(dag: &Dag) -> Vec<usize> {
    if dag.is_topologically_numbered() {
        return (0..dag.n_nodes()).collect();
    }
    let mut missing: Vec<usize> = vec![0; dag.n_nodes()];
    dag.edges().for_each(|(_, to)| missing[to] += 1);
    let mut order: Vec<usize> = dag.sources().collect();
    let mut next = 0;
    while next < order.len() {
        for to in dag.successors(order[next]) {
            missing[to] -= 1;
            if missing[to] == 0 {
                order.push(to);
            }
        }
        next += 1;
    }
    order
}

/// Depth of every node: the length of the longest path that ends there, 0 for sources. O(n + m).
///
/// Every edge goes from a lower to a higher depth, so sorting by depth is a topological order.
pub fn depths(dag: &Dag) -> Vec<usize> {
    let mut depth = vec![0; dag.n_nodes()];
    for node in topological_order(dag) {
        for to in dag.successors(node) {
            depth[to] = depth[to].max(depth[node] + 1);
        }
    }
    depth
}
