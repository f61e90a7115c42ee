//! What a DAG's edges imply: depths, reachability and the attention masks made of it, distances, degrees, spectrum.
//!
//! A [`Mask`] says which keys each query may attend to. [`mask`] is the one to call; [`MaskAlgorithm`] lists every way
//! to compute it, and tests prove that they agree. Sparse users (large ASTs) take [`AncestorLists`] instead.
//!
//! # Who attends to whom
//! The paper's `M[i][j] = False` lets item `i` take part in the update of item `j`, so `i` is the key and `j` the query.
//! Read that way, its definition and its three algorithms do not agree with each other, nor with the authors' code:
//!
//! | source | a node attends to | itself | as a [`MaskRule`] |
//! |---|---|---|---|
//! | text, section 3.2: `M[i][j] = False` iff a path `i -> j` exists | ancestors | not said | [`MaskRule::PAPER`] |
//! | Floyd (appendix B): iff `dist(i, j)` is finite | ancestors | no | [`MaskRule::PAPER`] |
//! | DFS (appendix B): `M[j][i] = False` iff `j` in `D(i)` | descendants | no | [`MaskRule::DFS_TEXT`] |
//! | backtracking (appendix F): `M[B(j)][B(k)] = False`, `k = 1..=j` | descendants, never the root | yes, but for the root | [`Backtracking::AsPrinted`] |
//! | reference code, VAE (NA, BN) | ancestors | yes | [`MaskRule::PACE`] |
//! | reference code, MLM (NAS-Bench-101, 301) | descendants | no | [`MaskRule::REFERENCE_MLM`] |
//! | this crate's default | ancestors | yes | [`MaskRule::PACE`] |
//!
//! Without itself a source (or sink) attends to nothing, and a softmax over nothing is NaN: hence the default.

mod ancestors;
mod backtracking;
mod closure;
mod degree;
mod depth;
mod dfs;
mod distance;
mod floyd;
mod mask;
mod rule;
mod spectrum;
mod tree;

use crate::dag::Dag;
use crate::error::Error;

pub use ancestors::AncestorLists;
pub use backtracking::{Backtracking, backtracking_mask};
pub use closure::closure_mask;
pub(crate) use closure::sequence_mask;
pub use degree::{in_degrees, out_degrees};
pub use depth::{depths, topological_order};
pub use dfs::{dependent_set, dfs_mask};
pub use distance::{Distances, Paths, distances};
pub use floyd::{floyd, floyd_mask};
pub use mask::Mask;
pub use rule::{Diagonal, Direction, MaskRule};
pub use spectrum::{Laplacian, Spectrum, laplacian, spectrum};
pub use tree::DfsTree;

/// The attention mask of a DAG under `rule`, by the fastest algorithm for any DAG. O(n m / 64).
///
/// ```
/// use pace_graph::structure::{MaskRule, mask};
/// let dag: pace_graph::Dag = "0 2 3 1 : 0>1 0>2 1>3 2>3".parse()?;
/// let mask = mask(&dag, MaskRule::default());
/// assert_eq!(mask.keys(1).collect::<Vec<_>>(), [0, 1]); // itself and its ancestors, not its sibling
/// # Ok::<(), pace_graph::Error>(())
/// ```
pub fn mask(dag: &Dag, rule: MaskRule) -> Mask {
    closure_mask(dag, rule)
}

/// Every way to compute a [`Mask`]; all give the same one, at the costs shown for n nodes and m edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MaskAlgorithm {
    /// Bitset closure in topological order, O(n m / 64): [`closure_mask`].
    #[default]
    Closure,
    /// The paper's Floyd algorithm, O(n^3): [`floyd_mask`].
    Floyd,
    /// The paper's depth-first search from every node, O(n m): [`dfs_mask`].
    Dfs,
    /// The paper's backtracking, repaired, O(n depth) after the O(n^2 / 64) of an empty mask; trees in DFS order only:
    /// [`backtracking_mask`].
    Backtracking,
    /// Subtrees as intervals of the DFS order, O(n^2 / 64); trees in DFS order only: [`DfsTree::mask`].
    Interval,
}

impl MaskAlgorithm {
    /// Every algorithm, the default first.
    pub const ALL: [MaskAlgorithm; 5] = [
        MaskAlgorithm::Closure,
        MaskAlgorithm::Floyd,
        MaskAlgorithm::Dfs,
        MaskAlgorithm::Backtracking,
        MaskAlgorithm::Interval,
    ];

    /// Computes the mask of `dag`. Fails only if the algorithm needs a tree in DFS order and `dag` is none.
    pub fn mask(self, dag: &Dag, rule: MaskRule) -> Result<Mask, Error> {
        match self {
            MaskAlgorithm::Closure => Ok(closure_mask(dag, rule)),
            MaskAlgorithm::Floyd => Ok(floyd_mask(dag, rule)),
            MaskAlgorithm::Dfs => Ok(dfs_mask(dag, rule)),
            MaskAlgorithm::Backtracking => Ok(backtracking_mask(&DfsTree::new(dag)?, rule, Backtracking::Repaired)),
            MaskAlgorithm::Interval => Ok(DfsTree::new(dag)?.mask(rule)),
        }
    }
}
