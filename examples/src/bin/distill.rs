//! Trains the embedded stand-ins of datasets: `cargo xtask distill na --data DIR`.
//!
//! Each writes a small file of weights (never data) that a crate includes, so that every command works offline.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Args as ClapArgs, Parser, Subcommand};
use pace_checkout::data_dir;
use pace_examples::nas301;
use pace_graph::dataset::{Na, Nas101Table};
use pace_search::oracle::{HeldOut, NaSurrogateConfig, Nas101SurrogateConfig, Nas301SurrogateConfig};

/// Trains the embedded stand-ins of datasets
#[derive(Debug, Parser)]
struct Args {
    #[command(subcommand)]
    dataset: Which,
}

#[derive(Debug, Subcommand)]
enum Which {
    /// The weight-sharing accuracy of ENAS architectures, from final_structures6.txt
    Na(Options),
    /// The test accuracy of NAS-Bench-101 cells, from nasbench101.csv
    Nas101(Options),
    /// The validation accuracy of DARTS cells, from the network in yahpo_nb301_v1_wide_deep.onnx
    Nas301(Options),
}

#[derive(Debug, ClapArgs)]
struct Options {
    /// Folder with the datasets [default: PACE_DATA, then ../shared/data, then datasets/.cache]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// File for the weights [default: crates/pace-search/weights/DATASET.bin]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Passes over the graphs [default: as many as the embedded weights took]
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,
}

fn main() -> Result<()> {
    let dataset = Args::parse().dataset;
    let (Which::Na(options) | Which::Nas101(options) | Which::Nas301(options)) = &dataset;
    let dir = data_dir(options.data.as_deref());
    let start = Instant::now();
    let progress = |member: usize, epoch: usize, rmse: f64| {
        let seconds = start.elapsed().as_secs_f64();
        println!("{seconds:6.1} s  network {}, epoch {}: training RMSE {rmse:.4}", member + 1, epoch + 1);
    };
    let (name, bytes, measured) = match &dataset {
        Which::Na(_) => {
            let mut config = NaSurrogateConfig::default();
            config.perceptron.n_epochs = options.epochs.unwrap_or(config.perceptron.n_epochs);
            let na = dir.read(&Na::default(), "na", "final_structures6.txt", &mut |_| {})?;
            let surrogate = config.fit(&na, &progress)?;
            ("na", surrogate.to_bytes(), vec![("held out", surrogate.held_out())])
        }
        Which::Nas101(_) => {
            let mut config = Nas101SurrogateConfig::default();
            config.perceptron.n_epochs = options.epochs.unwrap_or(config.perceptron.n_epochs);
            let table = dir.read(&Nas101Table::default(), "nasbench101", "nasbench101.csv", &mut |_| {})?;
            let surrogate = config.fit(&table, &progress)?;
            let measured = vec![("held out", surrogate.held_out()), ("best tenth", surrogate.held_out_best())];
            ("nas101", surrogate.to_bytes(), measured)
        }
        Which::Nas301(_) => {
            let mut config = Nas301SurrogateConfig::default();
            config.perceptron.n_epochs = options.epochs.unwrap_or(config.perceptron.n_epochs);
            let surrogate = config.fit(&nas301::published(&dir)?, &progress)?;
            let measured = vec![("held out", surrogate.held_out()), ("best tenth", surrogate.held_out_best())];
            ("nas301", surrogate.to_bytes(), measured)
        }
    };
    for (part, HeldOut { rmse, pearson, spearman, n_rows }) in measured {
        println!(
            "{part} ({n_rows} rows): RMSE {rmse:.4} standard deviations, Pearson {pearson:.4}, Spearman {spearman:.4}"
        );
    }
    let out = options.out.clone().unwrap_or_else(|| weights().join(format!("{name}.bin")));
    std::fs::write(&out, &bytes).with_context(|| format!("could not write {}", out.display()))?;
    println!("{} bytes of weights in {}", bytes.len(), out.display());
    Ok(())
}

/// The folder whose files `pace-search` embeds.
fn weights() -> PathBuf {
    pace_checkout::root().join("crates/pace-search/weights")
}
