//! [`AstTable`]: a dataset of trees made ready once, so that a training step does no graph work.

use burn::tensor::Device;
use pace_graph::dataset::Ast;
use pace_graph::structure::DfsTree;
use pace_graph::{Csr, Error};

use super::batch::{AstBatch, MAX_PAIRS, n_pairs};
use super::{AstLayout, Packing};

/// The trees of a dataset in host memory, node after node: 24 bytes per node.
#[derive(Clone, Debug)]
pub struct AstTable {
    layout: AstLayout,
    trees: Csr<Node>,
    targets: Vec<f32>,
    /// `n_positions` tokens per tree.
    tokens: Vec<i32>,
    n_positions: usize,
}

/// One node; numbers of other nodes count from the tree's root.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub op: u16,
    pub depth: u16,
    pub attribute: u32,
    /// None for the root.
    pub parent: Option<u32>,
    /// One past the last node of its subtree.
    pub end: u32,
    /// Whether it stands for a word of the text; those are linked in their order.
    pub is_token: bool,
}

impl AstTable {
    /// Makes trees ready, all at once.
    ///
    /// # Errors
    /// As [`AstTable::push`].
    pub fn new(asts: &[Ast], layout: AstLayout) -> Result<AstTable, Error> {
        let mut table = AstTable::empty(layout);
        asts.iter().try_for_each(|ast| table.push(ast))?;
        Ok(table)
    }

    /// A table without trees, to be filled while a dataset is read.
    ///
    /// # Panics
    /// If the layout has no positions, or depths beyond 65,535.
    pub fn empty(layout: AstLayout) -> AstTable {
        assert!(layout.n_positions > 0, "a layout without positions; there is at least the root's");
        assert!(layout.max_depth <= usize::from(u16::MAX), "depths up to {}, but 65535 is the most", layout.max_depth);
        AstTable { layout, trees: Csr::default(), targets: Vec::new(), tokens: Vec::new(), n_positions: 0 }
    }

    /// Adds a tree. O(n).
    ///
    /// # Errors
    /// If it is no tree in DFS pre-order, has a type or an attribute beyond the layout's, or too many pairs for a batch: more
    /// than 2^32 - 1 of a node and one that it attends to if batches are packed, of any two nodes if they are padded.
    pub fn push(&mut self, ast: &Ast) -> Result<(), Error> {
        let tree = DfsTree::new(&ast.dag)?;
        let limits = [("type", self.layout.n_types), ("attribute", self.layout.n_attributes)];
        for (node, op) in ast.dag.ops().enumerate() {
            let found = [usize::from(op), ast.attributes[node] as usize];
            if let Some(((what, limit), found)) = limits.iter().zip(found).find(|((_, limit), found)| found >= limit) {
                let rule = format!("node {node} has {what} {found}, and there are {limit}; enlarge the layout");
                return Err(Error::Rule { spec: "ast layout".to_owned(), rule });
            }
        }
        let n = ast.dag.n_nodes();
        let n_pairs = match self.layout.packing {
            Packing::Packed => n_pairs(self.layout.attends, n, (0..n).map(|node| tree.end(node) - node).sum()),
            Packing::Padded => n.saturating_mul(n),
        };
        if n_pairs > MAX_PAIRS {
            let rule = format!("{n_pairs} pairs of nodes, and a batch holds {MAX_PAIRS}; cut the tree or drop it");
            return Err(Error::Rule { spec: "ast layout".to_owned(), rule });
        }
        let node = |(node, op): (usize, u16)| Node {
            op,
            depth: (ast.depths[node] as usize).min(self.layout.max_depth) as u16,
            attribute: ast.attributes[node],
            parent: tree.parent(node).map(|parent| parent as u32),
            end: tree.end(node) as u32,
            is_token: ast.is_attributed[node],
        };
        self.trees.push_row(ast.dag.ops().enumerate().map(node));
        Ok(())
    }

    /// Adds a number to be predicted per tree.
    ///
    /// # Panics
    /// If there are not as many targets as trees.
    pub fn with_targets(mut self, targets: Vec<f32>) -> AstTable {
        assert_eq!(targets.len(), self.len(), "one target per tree");
        self.targets = targets;
        self
    }

    /// Adds tokens to be predicted per tree, each row as long as the first.
    ///
    /// # Panics
    /// If there are not as many rows as trees, or they differ in length.
    pub fn with_tokens(mut self, tokens: &[Vec<usize>]) -> AstTable {
        assert_eq!(tokens.len(), self.len(), "target tokens for every tree");
        self.n_positions = tokens.first().map_or(0, Vec::len);
        assert!(tokens.iter().all(|row| row.len() == self.n_positions), "rows of {} target tokens", self.n_positions);
        self.tokens = tokens.iter().flatten().map(|&token| token as i32).collect();
        self
    }

    /// How many trees.
    pub fn len(&self) -> usize {
        self.trees.n_rows()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The layout of all trees.
    pub fn layout(&self) -> &AstLayout {
        &self.layout
    }

    /// How many nodes a tree has.
    pub fn n_nodes(&self, tree: usize) -> usize {
        self.trees.row(tree).len()
    }

    /// Nodes of every tree, for [`length_buckets`](super::length_buckets).
    pub fn lengths(&self) -> Vec<usize> {
        self.trees.rows().map(<[Node]>::len).collect()
    }

    /// The tensors of the trees with the given indices, for evaluation; `.train(seed)` makes it a training pass.
    pub fn batch(&self, indices: &[usize], device: &Device) -> AstBatch {
        let trees: Vec<&[Node]> = indices.iter().map(|&tree| self.trees.row(tree)).collect();
        let targets = (!self.targets.is_empty()).then(|| indices.iter().map(|&tree| self.targets[tree]).collect());
        let row = |&tree: &usize| &self.tokens[tree * self.n_positions..(tree + 1) * self.n_positions];
        let tokens = (!self.tokens.is_empty()).then(|| indices.iter().flat_map(row).copied().collect());
        AstBatch::new(&trees, &self.layout, device).with_labels(targets, tokens, self.n_positions, device)
    }
}
