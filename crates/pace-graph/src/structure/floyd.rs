//! The paper's Floyd algorithm (appendix B).

use super::distance::Distances;
use super::mask::Mask;
use super::rule::MaskRule;
use crate::dag::Dag;

/// All-pairs distances exactly as printed: `dist(i, j) = 1` for edges and infinity otherwise, then for `i`, `j`, `k` in
/// this nesting `dist(j, k) = min(dist(j, k), dist(j, i) + dist(i, k))`. O(n^3).
///
/// As printed the diagonal starts at infinity and stays there, because a DAG has no way back to a node.
pub fn floyd(dag: &Dag) -> Distances {
    let n_nodes = dag.n_nodes();
    let mut dist = Distances::infinite(n_nodes);
    for (from, to) in dag.edges() {
        dist.set(from, to, 1);
    }
    let hops = dist.hops_mut();
    for i in 0..n_nodes {
        for j in 0..n_nodes {
            for k in 0..n_nodes {
                // Infinity is the largest number: adding to it stays there and never wins the comparison.
                let through = hops[j * n_nodes + i].saturating_add(hops[i * n_nodes + k]);
                if hops[j * n_nodes + k] > through {
                    hops[j * n_nodes + k] = through;
                }
            }
        }
    }
    dist
}

/// The mask read off [`floyd`]: the paper's `M[i][j] = False` iff `dist(i, j)` is finite. O(n^3).
///
/// Under [`MaskRule::PAPER`] exactly the paper's; other rules transpose it or add the diagonal.
pub fn floyd_mask(dag: &Dag, rule: MaskRule) -> Mask {
    let dist = floyd(dag);
    let mut mask = Mask::start(dag.n_nodes(), rule);
    for from in 0..dag.n_nodes() {
        for to in (0..dag.n_nodes()).filter(|&to| dist.get(from, to).is_some()) {
            let (query, key) = rule.pair(from, to);
            mask.allow(query, key);
        }
    }
    mask
}
