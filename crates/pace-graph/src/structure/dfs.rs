//! The paper's depth-first search from every node (appendix B).

use super::mask::Mask;
use super::rule::MaskRule;
use crate::dag::Dag;

/// The paper's dependent set `D(i)` of a start node `i`: its strict descendants in the order they are met. O(n + m).
///
/// As printed: a stack `T = [i]`; pop `j`; every successor `k` of `j` not yet visited goes to `D(i)`, to the visited ones
/// and on the stack.
pub fn dependent_set(dag: &Dag, start: usize) -> Vec<usize> {
    let mut dependents = Vec::new();
    let mut visited = vec![false; dag.n_nodes()];
    let mut stack = vec![start];
    visited[start] = true;
    while let Some(node) = stack.pop() {
        for next in dag.successors(node) {
            if !visited[next] {
                dependents.push(next);
                visited[next] = true;
                stack.push(next);
            }
        }
    }
    dependents
}

/// The mask made of every [`dependent_set`]. O(n (n + m)).
///
/// The paper sets `M[j][i] = False` iff `j` in `D(i)`, which is [`MaskRule::DFS_TEXT`], the transpose of its own
/// definition. The rule decides here, so that this agrees with the other algorithms.
pub fn dfs_mask(dag: &Dag, rule: MaskRule) -> Mask {
    let mut mask = Mask::start(dag.n_nodes(), rule);
    for start in 0..dag.n_nodes() {
        for dependent in dependent_set(dag, start) {
            let (query, key) = rule.pair(start, dependent);
            mask.allow(query, key);
        }
    }
    mask
}
