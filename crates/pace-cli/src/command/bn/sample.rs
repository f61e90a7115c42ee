//! `pace bn sample`: rows from a network.

use std::path::PathBuf;

use anyhow::{Context, Result};
use pace_graph::disk::write_whole;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use super::read_network;
use crate::terminal::Terminal;

/// Draw rows from a network, as a CSV
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A network as BIF
    #[arg(value_name = "NETWORK")]
    network: PathBuf,
    /// How many rows
    #[arg(long, short, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    n: u32,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The file for the rows
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// Those of the network, or a file that cannot be written.
pub fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    let network = read_network(&args.network)?;
    let sample = network.sample(args.n as usize, &mut ChaCha8Rng::seed_from_u64(args.seed));
    let all: Vec<usize> = (0..network.n_variables()).collect();
    write_whole(&args.out, sample.csv(&all).as_bytes())
        .with_context(|| format!("cannot write {}", args.out.display()))?;
    let result = json!({"rows": args.n, "variables": network.n_variables(), "out": args.out});
    terminal.result(&result, || format!("{} rows written to {}", args.n, args.out.display()))
}
