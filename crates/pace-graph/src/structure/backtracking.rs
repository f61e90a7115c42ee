//! The paper's backtracking algorithm for ASTs (appendix F, on OGBG-CODE2).

use super::mask::Mask;
use super::rule::MaskRule;
use super::tree::DfsTree;

/// Which reading of the backtracking algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Backtracking {
    /// All ancestors from the root on (`k = 0..j`); the diagonal as the rule says.
    #[default]
    Repaired,
    /// `k = 1..=j` as printed: the root is connected to nothing, not even to itself, and every other node to itself
    /// whatever the rule says. The root attends to nothing, which a softmax turns into NaN.
    AsPrinted,
}

/// The mask of a tree in DFS order, keeping in `B(j)` the latest node of depth `j`. O(n depth) plus the empty mask.
///
/// As printed: for `v` in DFS order, `j = f(v)`, `B(j) = v`, and if `j > 0` then `M[B(j)][B(k)] = False` for `k = 1..=j`.
/// At that moment `B(0), ..., B(j - 1)` are the ancestors of `v`. In the paper's convention the descendant `v` then takes
/// part in the update of its ancestors, the transpose of the definition ([`MaskRule::AST`]); the rule decides here.
///
/// For large trees [`AncestorLists`](super::AncestorLists) hold the same pairs without the n^2 bits.
pub fn backtracking_mask(tree: &DfsTree, rule: MaskRule, reading: Backtracking) -> Mask {
    let mut mask = match reading {
        Backtracking::Repaired => Mask::start(tree.n_nodes(), rule),
        Backtracking::AsPrinted => Mask::none(tree.n_nodes()),
    };
    let mut latest: Vec<usize> = Vec::new();
    for node in 0..tree.n_nodes() {
        let depth = tree.depth(node);
        // Deeper entries belong to subtrees that are complete; the paper leaves them and never reads them.
        latest.truncate(depth);
        latest.push(node);
        let connected = match reading {
            Backtracking::Repaired => 0..depth,
            Backtracking::AsPrinted => 1..depth + 1,
        };
        for &above in &latest[connected] {
            let (query, key) = rule.pair(above, node);
            mask.allow(query, key);
        }
    }
    mask
}
