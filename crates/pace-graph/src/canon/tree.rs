//! Canonical order of rooted forests: Aho, Hopcroft & Ullman's tree isomorphism (AHU), in O(n log n).
//!
//! Subtrees are classed bottom-up by `(height, colour, classes of the children)`; the canonical order is the DFS pre-order
//! that visits children by class. Pre-order is what the paper uses for ASTs, and what its backtracking mask and the
//! subtree intervals of [`structure`](crate::structure) rely on.
//!
//! Two passes over flat arrays suffice. On the way up, each node joins its parent's list as soon as it is classed: nodes
//! are classed in ascending order, so every list is sorted from the start, and a node whose list is full is of the next
//! height. On the way down, a subtree takes as many positions of the order as it has nodes, so no stack is needed.

use super::{Canonical, GroupSize, Method};
use crate::dag::Dag;

/// The canonical order of a forest with all edges parent to child or all child to parent; `None` for any other graph.
pub(super) fn canonicalise(dag: &Dag, colour: impl Fn(usize) -> u32) -> Option<Canonical> {
    // Most other graphs have too many edges.
    if dag.n_edges() < dag.n_nodes() { canonicalise_hashed(dag, colour, extend_hash) } else { None }
}

/// The hash of a list of classes from that of the list without its last class. Its high half is the better one.
fn extend_hash(hash: u64, class: u32) -> u64 {
    (hash.rotate_left(5) ^ (u64::from(class) + 1)).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// The same with any hash: it decides which canonical form a class of forests has, never which forests are equal.
fn canonicalise_hashed(
    dag: &Dag,
    colour: impl Fn(usize) -> u32,
    extend_hash: impl Fn(u64, u32) -> u64,
) -> Option<Canonical> {
    // A union of chains is a forest both ways and counts as parent to child.
    let from_root = Forest::new(dag.n_nodes(), dag.edges());
    let upside_down = from_root.is_none();
    let turned = || dag.edges().map(|(child, parent)| (parent, child));
    let mut forest = from_root.or_else(|| Forest::new(dag.n_nodes(), turned()))?;

    let by_class = forest.class_subtrees(colour, extend_hash);
    let automorphisms = forest.automorphisms(&by_class);
    let mut order = forest.pre_order(&by_class);
    if upside_down {
        // Parents come first in pre-order, but last along the edges.
        order.reverse();
    }
    Some(Canonical { order, method: Method::Tree, automorphisms })
}

/// A node of the forest and what is known of its subtree.
#[derive(Clone)]
struct Node {
    /// Hash of the classes of the children so far.
    hash: u64,
    parent: u32,
    n_children: u32,
    /// Where its list of classes starts.
    first: u32,
    /// How many children are classed.
    n_classed: u32,
    /// Nodes of the subtree whose children are classed so far, itself included.
    size: u32,
    /// On the way down: one past the positions that are still free for the subtree.
    end: u32,
}

struct Forest {
    /// The nodes of the graph, then a virtual one above all roots: it makes the forest one tree.
    nodes: Vec<Node>,
    /// The classes of the children of every node, list after list, each ascending.
    classes: Vec<u32>,
}

impl Forest {
    /// The forest of the edges `(parent, child)` of a DAG; `None` if a node has two parents.
    fn new(n_nodes: usize, edges: impl Iterator<Item = (usize, usize)>) -> Option<Forest> {
        let top = n_nodes as u32;
        let node = Node { hash: 0, parent: top, n_children: 0, first: 0, n_classed: 0, size: 1, end: 0 };
        let mut nodes = vec![node; n_nodes + 1];
        nodes[n_nodes].n_children = top;
        for (parent, child) in edges {
            if nodes[child].parent != top {
                return None;
            }
            nodes[child].parent = parent as u32;
            nodes[parent].n_children += 1;
            nodes[n_nodes].n_children -= 1;
        }
        let mut first = 0;
        for node in &mut nodes {
            node.first = first;
            first += node.n_children;
        }
        Some(Forest { nodes, classes: vec![0; n_nodes] })
    }

    /// The virtual node above all roots.
    fn top(&self) -> u32 {
        self.nodes.len() as u32 - 1
    }

    /// Classes the subtrees, from the leaves up, and returns all nodes by class.
    ///
    /// Class numbers depend on the isomorphism class of the whole forest only: within a height they are ranks of
    /// `(colour, hash of the list, list)`, and numbering continues from height to height.
    fn class_subtrees(&mut self, colour: impl Fn(usize) -> u32, extend_hash: impl Fn(u64, u32) -> u64) -> Vec<u32> {
        let top = self.top();
        let key = |node: u32, hash: u64| u64::from(colour(node as usize)) << 32 | hash >> 32;
        let mut by_class = Vec::with_capacity(self.nodes.len());
        let leaves = (0..top).filter(|&node| self.nodes[node as usize].n_children == 0);
        let mut level: Vec<(u64, u32)> = leaves.map(|leaf| (key(leaf, 0), leaf)).collect();
        let mut level_above = Vec::new();
        let mut class = 0;
        while !level.is_empty() {
            level.sort_unstable_by_key(|&(key, _)| key);
            for run in level.chunk_by_mut(|one, other| one.0 == other.0) {
                let collision = self.sort_collision(run);
                for (index, &(_, node)) in run.iter().enumerate() {
                    if collision && index > 0 && self.list(run[index - 1].1) != self.list(node) {
                        class += 1;
                    }
                    by_class.push(node);
                    let parent = self.join_parent(node, class, &extend_hash);
                    let above = &self.nodes[parent as usize];
                    if above.n_classed == above.n_children && parent != top {
                        level_above.push((key(parent, above.hash), parent));
                    }
                }
                class += 1;
            }
            level.clear();
            std::mem::swap(&mut level, &mut level_above);
        }
        by_class
    }

    /// Whether nodes with equal keys have different lists after all. If so, sorts them by list.
    fn sort_collision(&self, run: &mut [(u64, u32)]) -> bool {
        let collision = run.windows(2).any(|pair| self.list(pair[0].1) != self.list(pair[1].1));
        if collision {
            run.sort_unstable_by(|one, other| self.list(one.1).cmp(self.list(other.1)));
        }
        collision
    }

    /// Adds a node, the next by class, to its parent's list, and returns the parent.
    fn join_parent(&mut self, node: u32, class: u32, extend_hash: impl Fn(u64, u32) -> u64) -> u32 {
        let Node { parent, size, .. } = self.nodes[node as usize];
        let above = &mut self.nodes[parent as usize];
        self.classes[(above.first + above.n_classed) as usize] = class;
        above.n_classed += 1;
        above.size += size;
        above.hash = extend_hash(above.hash, class);
        parent
    }

    /// The classes of a node's children, ascending.
    fn list(&self, node: u32) -> &[u32] {
        let Node { first, n_children, .. } = self.nodes[node as usize];
        &self.classes[first as usize..][..n_children as usize]
    }

    /// The product over all nodes of the factorials of how often each class occurs among the children.
    fn automorphisms(&self, by_class: &[u32]) -> GroupSize {
        let mut size = GroupSize::TRIVIAL;
        // By class, so that isomorphic forests round alike.
        for &node in by_class.iter().chain([&self.top()]) {
            let mut run = 1;
            for pair in self.list(node).windows(2) {
                run = if pair[0] == pair[1] { run + 1 } else { 1 };
                if run > 1 {
                    size = size.times(f64::from(run));
                }
            }
        }
        size
    }

    /// The DFS pre-order that visits children by class. From the last class to the first, so parents come before their
    /// children, and siblings fill the positions of their parent's subtree from the end.
    fn pre_order(&mut self, by_class: &[u32]) -> Vec<usize> {
        let mut order = vec![0; by_class.len()];
        let top = self.top();
        self.nodes[top as usize].end = top;
        for &node in by_class.iter().rev() {
            let Node { parent, size, .. } = self.nodes[node as usize];
            let above = &mut self.nodes[parent as usize];
            let end = above.end;
            above.end -= size;
            order[above.end as usize] = node as usize;
            self.nodes[node as usize].end = end;
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{canonicalise_hashed, extend_hash};
    use crate::dag::{Dag, Op};

    /// Hashes from good to useless: the last one leaves every decision to the lists themselves.
    const HASHES: [fn(u64, u32) -> u64; 3] = [extend_hash, |hash, class| hash ^ u64::from(class & 1) << 32, |_, _| 0];

    /// Every forest of `n_nodes` nodes in two colours in which parents come first, many times each.
    fn forests(n_nodes: usize) -> impl Iterator<Item = Dag> {
        // The parent of node v is one of 0..v, or v itself for a root: a mixed-radix number names a forest.
        let n_shapes: usize = (1..=n_nodes).product();
        (0..n_shapes << n_nodes).map(move |code| {
            let mut shape = code >> n_nodes;
            let mut edges = Vec::new();
            for node in 0..n_nodes {
                let parent = shape % (node + 1);
                shape /= node + 1;
                if parent < node {
                    edges.push((parent, node));
                }
            }
            let ops = (0..n_nodes).map(|node| (code >> node & 1) as Op).collect();
            Dag::new(ops, edges).expect("parents come first")
        })
    }

    #[test]
    fn no_hash_collision_merges_or_splits_a_class() {
        // Forests of n nodes in two colours: OEIS A000151(n + 1).
        for (n_nodes, n_classes) in [(1, 2), (2, 7), (3, 26), (4, 107), (5, 458), (6, 2058)] {
            let mut forms = HASHES.map(|_| HashMap::new());
            for dag in forests(n_nodes) {
                let [good, others @ ..] = HASHES.map(|hash| {
                    let found = canonicalise_hashed(&dag, |node| u32::from(dag.op(node)), hash).expect("a forest");
                    (dag.relabel(&found.order), found.automorphisms)
                });
                forms[0].insert(good.0.clone(), good.clone());
                for (forms, other) in forms[1..].iter_mut().zip(others) {
                    assert_eq!(good.1, other.1, "the group of {dag}");
                    let known = forms.entry(other.0).or_insert_with(|| good.clone());
                    assert_eq!(*known, good, "{dag} collides");
                }
            }
            for forms in forms {
                assert_eq!(forms.len(), n_classes, "classes of {n_nodes} nodes");
            }
        }
    }
}
