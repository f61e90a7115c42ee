//! The graphs of the bench: shaped like the paper's datasets, always the same, without any file.
//!
//! Every graph is numbered topologically, as all the datasets are.

use pace_graph::{Dag, Op};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::ast;

/// Graphs of one shape.
pub struct GraphSet {
    /// Name in the results.
    pub name: &'static str,
    /// The graphs.
    pub dags: Vec<Dag>,
}

/// Every set.
pub fn all() -> Vec<GraphSet> {
    let mut rng = ChaCha8Rng::seed_from_u64(101);
    let mut set = |name, n_dags: usize, make: fn(&mut ChaCha8Rng) -> Dag| GraphSet {
        name,
        dags: (0..n_dags).map(|_| make(&mut rng)).collect(),
    };
    vec![
        set("nas101", 2000, nas101),
        set("bn", 1000, bn),
        set("darts", 500, darts),
        set("ast120", 50, |rng| ast(rng, 120)),
        set("ast1000", 10, |rng| ast(rng, 1000)),
    ]
}

/// A NAS-Bench-101 cell: 7 nodes, at most 9 edges, every node on a path from input to output.
fn nas101(rng: &mut ChaCha8Rng) -> Dag {
    const N: usize = 7;
    loop {
        let edges = upper_triangular(rng, N, 0.4);
        let reached = (1..N).all(|node| edges.iter().any(|&(_, to)| to == node));
        let leaves = (0..N - 1).all(|node| edges.iter().any(|&(from, _)| from == node));
        if edges.len() <= 9 && reached && leaves {
            let inner = (1..N - 1).map(|_| rng.random_range(1..=3));
            let ops: Vec<Op> = [0].into_iter().chain(inner).chain([4]).collect();
            return dag(ops, edges);
        }
    }
}

/// A network over 8 distinct variables, with an input that feeds the parentless and an output fed by the childless.
fn bn(rng: &mut ChaCha8Rng) -> Dag {
    let ops: Vec<Op> = (2..10).collect();
    dag(ops, upper_triangular(rng, 8, 0.3)).with_virtual_output(1).with_virtual_input(0)
}

/// A DARTS cell with operations on nodes: 2 inputs, 4 times (2 operations and their sum), 1 output.
fn darts(rng: &mut ChaCha8Rng) -> Dag {
    let mut ops: Vec<Op> = vec![0, 1];
    let mut edges = Vec::new();
    let mut states = vec![0, 1];
    for _ in 0..4 {
        let first = rng.random_range(0..states.len());
        let second = (first + rng.random_range(1..states.len())) % states.len();
        let sum = ops.len() + 2;
        for input in [first, second] {
            edges.extend([(states[input], ops.len()), (ops.len(), sum)]);
            ops.push(rng.random_range(2..=8));
        }
        ops.push(9);
        states.push(sum);
    }
    edges.extend(states[2..].iter().map(|&state| (state, ops.len())));
    ops.push(10);
    dag(ops, edges)
}

/// A syntax tree of `n_nodes` nodes; see [`ast`](mod@ast).
fn ast(rng: &mut ChaCha8Rng, n_nodes: usize) -> Dag {
    let (ops, edges) = ast::function(rng, n_nodes);
    dag(ops, edges)
}

fn upper_triangular(rng: &mut impl Rng, n_nodes: usize, density: f64) -> Vec<(usize, usize)> {
    let pairs = (0..n_nodes).flat_map(|from| (from + 1..n_nodes).map(move |to| (from, to)));
    pairs.filter(|_| rng.random_bool(density)).collect()
}

fn dag(ops: Vec<Op>, edges: Vec<(usize, usize)>) -> Dag {
    Dag::new(ops, edges).expect("generated graphs are sound")
}
