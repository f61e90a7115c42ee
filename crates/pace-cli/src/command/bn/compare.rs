//! `pace bn compare`: how far two networks are apart.

use std::path::PathBuf;

use anyhow::Result;
use pace_bn::Comparison;

use super::read_network;
use crate::terminal::Terminal;

/// Compare two networks over the same variables
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A network as BIF
    #[arg(value_name = "NETWORK")]
    network: PathBuf,
    /// The true one, as BIF
    #[arg(value_name = "TRUTH")]
    truth: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// Those of the networks.
pub fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    let comparison = Comparison::of(&read_network(&args.network)?, &read_network(&args.truth)?)?;
    terminal.result(&comparison, || {
        let Comparison { shd, shd_dags, pairs } = &comparison;
        format!(
            "structural Hamming distance: {shd} (what data can tell), {shd_dags} (arcs as they stand)\n\
             linked pairs: {} found, {} missed, {} invented",
            pairs.found, pairs.missed, pairs.invented
        )
    })
}
