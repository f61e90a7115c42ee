//! The paper's depth-first search from every node (appendix B).

use super::mask::Mask;
use super::rule::MaskRule;
use crate::dag::Dag;

/// The paper's dependent set `D(i)` of a start node `i`: its strict descendants in the order they are met. O(n + m).
///
/// As printed: a stack `T = [i]`; pop `j`; every successor `k` of `j` not yet visited goes to `D(i)`, to the visited ones
/// and on the stack.
pub fn dependent_set(dag: &Dag, start: usize) -> Vec<usize> {
    let mut search = Search::new(dag.n_nodes());
    search.run(dag, start);
    search.dependents
}

/// The mask made of every [`dependent_set`]. O(n (n + m)).
///
/// The paper sets `M[j][i] = False` iff `j` in `D(i)`, which is [`MaskRule::DFS_TEXT`], the transpose of its own
/// definition. The rule decides here, so that this agrees with the other algorithms.
pub fn dfs_mask(dag: &Dag, rule: MaskRule) -> Mask {
    let mut mask = Mask::start(dag.n_nodes(), rule);
    let mut search = Search::new(dag.n_nodes());
    for start in 0..dag.n_nodes() {
        search.run(dag, start);
        for &dependent in &search.dependents {
            let (query, key) = rule.pair(start, dependent);
            mask.allow(query, key);
        }
    }
    mask
}

/// The paper's `D(i)`, `Visited` and `T`, kept between searches so that n of them allocate once.
struct Search {
    dependents: Vec<usize>,
    visited: Vec<bool>,
    stack: Vec<usize>,
}

impl Search {
    fn new(n_nodes: usize) -> Search {
        Search { dependents: Vec::with_capacity(n_nodes), visited: vec![false; n_nodes], stack: Vec::new() }
    }

    fn run(&mut self, dag: &Dag, start: usize) {
        self.dependents.clear();
        self.visited.fill(false);
        self.stack.push(start);
        self.visited[start] = true;
        while let Some(node) = self.stack.pop() {
            for next in dag.successors(node) {
                if !self.visited[next] {
                    self.dependents.push(next);
                    self.visited[next] = true;
                    self.stack.push(next);
                }
            }
        }
    }
}
