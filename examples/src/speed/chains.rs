//! Encoding time against depth: chains of nodes, where a recursion takes a step per node and PACE one for all.

use std::time::Instant;

use anyhow::Result;
use burn::tensor::Device;
use pace_graph::{Dag, DagSpec};
use pace_model::DagTable;
use pace_model::encoder::{DagEncoder, EncodeParts, EncoderSettings};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::systems::{Data, Size, System};

/// Nodes of a chain.
pub const LENGTHS: [usize; 8] = [8, 16, 32, 64, 128, 256, 512, 1000];
/// Exponents are fitted from this length on, where fixed costs no longer show.
pub const SETTLED: usize = 64;
/// Chains that are encoded at once.
const N_CHAINS: usize = 8;
/// Operations besides input and output.
const N_OPS: u16 = 6;

/// Seconds per chain of `length` nodes, the best of several passes.
///
/// # Errors
/// A chain that is no graph of its spec, which does not happen.
pub fn seconds(system: System, width: usize, length: usize) -> Result<f64> {
    let device = Device::flex();
    let mut spec = DagSpec::new("chains", (0..N_OPS + 2).map(|op| format!("op{op}")), length);
    (spec.input, spec.output) = (Some(0), Some(1));
    // As on NAS-Bench-101: no start symbol, the output node is read.
    let encoder = Data::Nas101.encoder(system, Size::Equal(width)).init(&spec, 1, &device);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let chains = (0..N_CHAINS).map(|_| chain(length, &mut rng)).collect::<Result<Vec<Dag>>>()?;
    let table = DagTable::new(&chains, encoder.layout());
    let pass = || {
        let start = Instant::now();
        let vectors = encoder.encode_graphs(&table.whole(&device)).into_data();
        assert_eq!(vectors.shape()[0], N_CHAINS);
        start.elapsed().as_secs_f64() / N_CHAINS as f64
    };
    pass();
    let (start, mut best) = (Instant::now(), f64::INFINITY);
    while best.is_infinite() || start.elapsed().as_secs_f64() < 0.5 {
        best = best.min(pass());
    }
    Ok(best)
}

/// Input, random operations, output, each after the one before.
fn chain(length: usize, rng: &mut ChaCha8Rng) -> Result<Dag> {
    let mut ops: Vec<u16> = (0..length).map(|_| rng.random_range(2..N_OPS + 2)).collect();
    (ops[0], ops[length - 1]) = (0, 1);
    Ok(Dag::new(ops, (1..length).map(|node| (node - 1, node)))?)
}

/// b of y = a x^b by least squares on the logarithms.
pub fn exponent(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs = || points.iter().map(|(x, y)| (x.ln(), y.ln()));
    let (x_mean, y_mean) = logs().fold((0.0, 0.0), |(x, y), (log_x, log_y)| (x + log_x / n, y + log_y / n));
    let covariance: f64 = logs().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    covariance / logs().map(|(x, _)| (x - x_mean).powi(2)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_of_powers_are_exact_and_chains_are_chains() {
        let points: Vec<(f64, f64)> = [8.0, 100.0, 3e4].iter().map(|x: &f64| (*x, 3.0 * x.powf(1.5))).collect();
        assert!((exponent(&points) - 1.5).abs() < 1e-12);
        let dag = chain(9, &mut ChaCha8Rng::seed_from_u64(2)).unwrap();
        assert_eq!((dag.n_nodes(), dag.edges().count(), dag.op(0), dag.op(8)), (9, 8, 0, 1));
    }
}
