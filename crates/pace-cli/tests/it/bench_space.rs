//! A space that nobody has tuned for: random DAGs of up to eight nodes, and a score that depends on operations and paths.

use std::fmt::Write;
use std::path::Path;

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const OPS: [&str; 5] = ["load", "mul", "add", "relu", "pool"];

/// Writes `n` graphs as JSON lines, with scores if wanted; the same for the same seed.
pub fn write_graphs(path: &Path, n: usize, seed: u64, with_scores: bool) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut text = String::new();
    for index in 0..n {
        let n_nodes = rng.random_range(3..=8);
        let ops: Vec<&str> = (0..n_nodes).map(|_| *OPS.choose(&mut rng).unwrap()).collect();
        let edges: Vec<(usize, usize)> =
            (1..n_nodes).flat_map(|to| (0..to).map(move |from| (from, to))).filter(|_| rng.random_bool(0.35)).collect();
        let score = score(&ops, &edges);
        let target = if with_scores { format!(r#", "target": {score}"#) } else { String::new() };
        writeln!(
            text,
            r#"{{"id": "g{index}", "ops": {}, "edges": {}{target}}}"#,
            serde_json::to_string(&ops).unwrap(),
            serde_json::to_string(&edges).unwrap()
        )
        .unwrap();
    }
    std::fs::write(path, text).unwrap();
}

/// Each edge counts by the operations at its ends.
pub fn score(ops: &[&str], edges: &[(usize, usize)]) -> f64 {
    let value = |op: &str| OPS.iter().position(|known| *known == op).unwrap_or(0) as f64;
    let edge = |&(from, to): &(usize, usize)| (value(ops[from]) - 1.5) * (2.0 - (value(ops[to]) - 3.0).abs());
    edges.iter().map(edge).sum::<f64>() - 0.1 * (ops.len() * ops.len()) as f64
}
