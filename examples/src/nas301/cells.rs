//! Cells of the DARTS space.

use std::collections::HashSet;

use pace_graph::enumerate::{Darts, Sampler};
use pace_graph::{Dag, GraphKey};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Different cells, drawn as the authors draw them.
pub fn sample(n: usize, seed: u64) -> Vec<Dag> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut seen = HashSet::with_capacity(n);
    let mut dags = Vec::with_capacity(n);
    while dags.len() < n {
        let dag = Darts.sample(&mut rng);
        if seen.insert(GraphKey::of(&dag)) {
            dags.push(dag);
        }
    }
    dags
}

/// Convolutions of a cell, a separable one counting twice.
pub fn convolutions(dag: &Dag) -> f64 {
    let spec = Darts.spec();
    let weight = |op| match spec.op_name(op).as_str() {
        name if name.starts_with("sep_conv") => 2.0,
        name if name.starts_with("dil_conv") => 1.0,
        _ => 0.0,
    };
    dag.ops().map(weight).sum()
}
