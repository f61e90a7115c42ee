//! `pace bn`: Bayesian networks from tables of discrete data.

mod compare;
mod data;
mod learn;
mod page;
mod sample;
mod score;

use std::path::Path;

use anyhow::{Context, Result};
use clap::Subcommand;
use pace_bn::{Network, parse_bif};

use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  pace bn learn data.csv --out network                    the best network with at most 3 parents, proven if the clock allows
  pace bn learn data.csv --method orders --out network    hundreds of variables: no proof
  pace bn score data.csv network/network.bif              its log-likelihood, AIC, BIC and BDeu on some data
  pace bn compare network/network.bif true.bif            structural Hamming distance, arcs found, missed and invented
  pace bn sample true.bif -n 20000 --out data.csv         rows drawn from a network
";

/// Bayesian networks: learn them from a CSV with a certificate, score, compare and sample them
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
enum Command {
    Learn(learn::Args),
    Score(score::Args),
    Compare(compare::Args),
    Sample(sample::Args),
}

/// Runs the command.
///
/// # Errors
/// Those of the data, the network and the files.
pub fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    match &args.command {
        Command::Learn(args) => learn::run(args, terminal),
        Command::Score(args) => score::run(args, terminal),
        Command::Compare(args) => compare::run(args, terminal),
        Command::Sample(args) => sample::run(args, terminal),
    }
}

/// The network of a BIF file.
fn read_network(path: &Path) -> Result<Network> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(parse_bif(&text, &path.display().to_string())?)
}
