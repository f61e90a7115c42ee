//! Canonical order of rooted forests: Aho, Hopcroft & Ullman's tree isomorphism (AHU), in O(n log n).
//!
//! Subtrees are classed bottom-up by `(height, colour, sorted classes of the children)`; the canonical order is the DFS
//! pre-order that visits children by class. Pre-order is what the paper uses for ASTs, and what its backtracking mask
//! and the subtree intervals of [`structure`](crate::structure) rely on.

use super::{Canonical, GroupSize, Method};
use crate::dag::Dag;

/// Which way the edges of a forest point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Parent to child: every node has at most one predecessor.
    FromRoot,
    /// Child to parent: every node has at most one successor.
    ToRoot,
}

/// Whether the graph is a forest, and of which kind. A union of chains is both and counts as [`Direction::FromRoot`].
pub(super) fn direction(dag: &Dag) -> Option<Direction> {
    if dag.n_edges() >= dag.n_nodes() {
        return None;
    }
    if (0..dag.n_nodes()).all(|node| dag.predecessors(node).nth(1).is_none()) {
        Some(Direction::FromRoot)
    } else if (0..dag.n_nodes()).all(|node| dag.successors(node).nth(1).is_none()) {
        Some(Direction::ToRoot)
    } else {
        None
    }
}

pub(super) fn canonicalise(dag: &Dag, direction: Direction, colour: impl Fn(usize) -> u32) -> Canonical {
    let children = |node: usize| -> Vec<usize> {
        match direction {
            Direction::FromRoot => dag.successors(node).collect(),
            Direction::ToRoot => dag.predecessors(node).collect(),
        }
    };
    let roots: Vec<usize> = match direction {
        Direction::FromRoot => dag.sources().collect(),
        Direction::ToRoot => dag.sinks().collect(),
    };
    let mut forest = Forest { children: (0..dag.n_nodes()).map(children).collect(), roots };
    let class = forest.sort_by_class(colour);
    let mut order = forest.pre_order();
    if direction == Direction::ToRoot {
        // Parents come first in pre-order, but last along the edges.
        order.reverse();
    }
    Canonical { order, method: Method::Tree, automorphisms: forest.automorphisms(&class) }
}

struct Forest {
    children: Vec<Vec<usize>>,
    roots: Vec<usize>,
}

impl Forest {
    /// Classes the subtrees, sorts every list of children (and the roots) by class, and returns the classes.
    ///
    /// Heights are handled from the leaves up. Class numbers depend on the isomorphism class of the whole forest only:
    /// within a height they are ranks of signatures, and numbering goes on from height to height.
    fn sort_by_class(&mut self, colour: impl Fn(usize) -> u32) -> Vec<usize> {
        let mut class = vec![0; self.children.len()];
        let mut next_class = 0;
        for mut level in self.levels_by_height() {
            for &node in &level {
                self.children[node].sort_unstable_by_key(|&child| class[child]);
            }
            let signature = |node: usize| (colour(node), self.children[node].iter().map(|&child| class[child]));
            let compare = |&a: &usize, &b: &usize| {
                let ((colour_a, classes_a), (colour_b, classes_b)) = (signature(a), signature(b));
                colour_a.cmp(&colour_b).then_with(|| classes_a.cmp(classes_b))
            };
            level.sort_unstable_by(compare);
            let mut ranks = Vec::with_capacity(level.len());
            for (index, node) in level.iter().enumerate() {
                if index > 0 && compare(&level[index - 1], node).is_ne() {
                    next_class += 1;
                }
                ranks.push((*node, next_class));
            }
            next_class += 1;
            ranks.into_iter().for_each(|(node, rank)| class[node] = rank);
        }
        self.roots.sort_unstable_by_key(|&root| class[root]);
        class
    }

    /// The nodes by height of their subtree: leaves first.
    fn levels_by_height(&self) -> Vec<Vec<usize>> {
        let mut height = vec![0usize; self.children.len()];
        let mut levels: Vec<Vec<usize>> = Vec::new();
        for node in self.pre_order().into_iter().rev() {
            height[node] = self.children[node].iter().map(|&child| height[child] + 1).max().unwrap_or(0);
            if levels.len() <= height[node] {
                levels.resize_with(height[node] + 1, Vec::new);
            }
            levels[height[node]].push(node);
        }
        levels
    }

    /// DFS pre-order with an explicit stack: syntax trees can be deeper than the call stack.
    fn pre_order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.children.len());
        let mut stack: Vec<usize> = self.roots.iter().rev().copied().collect();
        while let Some(node) = stack.pop() {
            order.push(node);
            stack.extend(self.children[node].iter().rev());
        }
        order
    }

    /// The product over all nodes of the factorials of how often each class occurs among the children.
    fn automorphisms(&self, class: &[usize]) -> GroupSize {
        let mut size = GroupSize::TRIVIAL;
        for siblings in self.children.iter().chain([&self.roots]) {
            let mut run = 0;
            for (index, &node) in siblings.iter().enumerate() {
                run = if index > 0 && class[siblings[index - 1]] == class[node] { run + 1 } else { 1 };
                size = size.times(f64::from(run));
            }
        }
        size
    }
}
