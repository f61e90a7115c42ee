//! Which layer each node is in.

use pace_graph::Dag;

/// The layer of each node of a graph that is numbered topologically: the length of the longest path that ends there.
///
/// This makes as few layers as there can be. Then a node with more edges out than in moves down to its successors, which shortens
/// more edges than it lengthens. O(n + m).
pub fn ranks(dag: &Dag) -> Vec<usize> {
    let mut ranks = vec![0; dag.n_nodes()];
    for node in 0..dag.n_nodes() {
        ranks[node] = dag.predecessors(node).map(|before| ranks[before] + 1).max().unwrap_or(0);
    }
    for node in (0..dag.n_nodes()).rev() {
        let lowest = dag.successors(node).map(|after| ranks[after]).min();
        if let Some(lowest) = lowest.filter(|_| dag.successors(node).count() > dag.predecessors(node).count()) {
            ranks[node] = lowest - 1;
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::ranks;

    #[test]
    fn sources_stand_above_what_they_feed() {
        let dag = "0 0 1 1 2 : 0>2 1>4 2>3 3>4".parse().unwrap();
        assert_eq!(ranks(&dag), [0, 2, 1, 2, 3]);
    }
}
