//! Trains the embedded stand-ins of datasets: `cargo xtask distill na --data DIR`.
//!
//! Each writes a small file of weights (never data) that a crate includes, so that every command works offline.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use pace_graph::dataset::{DataDir, Na};
use pace_search::oracle::NaSurrogateConfig;

/// Trains the embedded stand-ins of datasets
#[derive(Debug, Parser)]
struct Args {
    #[command(subcommand)]
    dataset: Which,
}

#[derive(Debug, Subcommand)]
enum Which {
    /// The weight-sharing accuracy of ENAS architectures, from final_structures6.txt
    Na {
        /// Folder with the datasets [default: PACE_DATA, then ../shared/data, then datasets/.cache]
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
        /// File for the weights
        #[arg(long, value_name = "FILE", default_value = "datasets/na/surrogate.bin")]
        out: PathBuf,
        /// Passes over the table
        #[arg(long, value_name = "N", default_value_t = NaSurrogateConfig::default().n_epochs)]
        epochs: usize,
    },
}

fn main() -> Result<()> {
    let Which::Na { data, out, epochs } = Args::parse().dataset;
    let na = DataDir::resolve(data.as_deref()).read(&Na::default(), "na", "final_structures6.txt", &mut |_| {})?;
    let config = NaSurrogateConfig { n_epochs: epochs, ..NaSurrogateConfig::default() };
    let start = Instant::now();
    let surrogate = config.fit(&na, &|member, epoch, rmse| {
        let seconds = start.elapsed().as_secs_f64();
        println!("{seconds:6.1} s  network {}, epoch {}: training RMSE {rmse:.4}", member + 1, epoch + 1);
    })?;
    let held_out = surrogate.held_out();
    println!(
        "held out ({} rows): RMSE {:.4} standard deviations, Pearson {:.4}, Spearman {:.4}",
        held_out.n_rows, held_out.rmse, held_out.pearson, held_out.spearman
    );
    let bytes = surrogate.to_bytes();
    std::fs::write(&out, &bytes).with_context(|| format!("could not write {}", out.display()))?;
    println!("{} bytes of weights in {}", bytes.len(), out.display());
    Ok(())
}
