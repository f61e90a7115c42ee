//! [`MaskRule`]: which way attention looks along the paths of a DAG, and whether a node sees itself.

use serde::{Deserialize, Serialize};

/// Which nodes a query attends to, along directed paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// `allowed(q, k)` iff a path `k -> q` exists: information flows along the edges.
    #[default]
    Ancestors,
    /// `allowed(q, k)` iff a path `q -> k` exists: information flows against the edges.
    Descendants,
}

/// Whether a node attends to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Diagonal {
    /// `allowed(q, q)`.
    #[default]
    Allowed,
    /// Not `allowed(q, q)`: nodes without ancestors (descendants) then attend to nothing.
    Masked,
}

/// The meaning of a mask. The table in [`structure`](crate::structure) says who uses which.
///
/// ```
/// use pace_graph::structure::{Diagonal, Direction, MaskRule};
/// assert_eq!(MaskRule::default(), MaskRule { direction: Direction::Ancestors, diagonal: Diagonal::Allowed });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MaskRule {
    /// Ancestors or descendants.
    pub direction: Direction,
    /// With or without itself.
    pub diagonal: Diagonal,
}

impl MaskRule {
    /// The default: ancestors and itself, as the authors' VAE code does.
    pub const PACE: MaskRule = MaskRule { direction: Direction::Ancestors, diagonal: Diagonal::Allowed };
    /// The paper's definition and its Floyd algorithm taken to the letter: strict ancestors.
    pub const PAPER: MaskRule = MaskRule { direction: Direction::Ancestors, diagonal: Diagonal::Masked };
    /// The sentence around the paper's DFS algorithm, which transposes the definition: strict descendants.
    pub const DFS_TEXT: MaskRule = MaskRule { direction: Direction::Descendants, diagonal: Diagonal::Masked };
    /// The authors' MLM code (NAS-Bench-101 and 301), which uses the mask untransposed: strict descendants.
    pub const REFERENCE_MLM: MaskRule = MaskRule::DFS_TEXT;
    /// ASTs read child to parent, so that the root sees everything and is the output node: descendants and itself.
    pub const AST: MaskRule = MaskRule { direction: Direction::Descendants, diagonal: Diagonal::Allowed };
    /// All four rules.
    pub const ALL: [MaskRule; 4] = [MaskRule::PACE, MaskRule::PAPER, MaskRule::DFS_TEXT, MaskRule::AST];

    /// The pair `(query, key)` for a path `from -> to`.
    pub(super) fn pair(self, from: usize, to: usize) -> (usize, usize) {
        match self.direction {
            Direction::Ancestors => (to, from),
            Direction::Descendants => (from, to),
        }
    }

    /// Whether a node attends to itself.
    pub fn sees_itself(self) -> bool {
        self.diagonal == Diagonal::Allowed
    }
}
