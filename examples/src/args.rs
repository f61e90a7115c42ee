//! [`RunArgs`]: the options every reproduction understands.

use std::path::PathBuf;

use anyhow::{Context, Result};

/// The options of every dataset's program; `cargo xtask reproduce` hands them through.
#[derive(Clone, Debug, clap::Args)]
pub struct RunArgs {
    /// Folder with the datasets [default: PACE_DATA, then ../shared/data, then datasets/.cache]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Folder for the results [default: runs/DATASET-ENCODER-SEED]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// All stages on little work, in under a minute
    #[arg(long)]
    pub smoke: bool,
}

impl RunArgs {
    /// The folder for the results.
    pub fn out_dir(&self, dataset: &str, encoder: &str) -> PathBuf {
        self.out.clone().unwrap_or_else(|| PathBuf::from(format!("runs/{dataset}-{encoder}-{}", self.seed)))
    }

    /// Sizes rayon's pool; returns how many threads there are.
    pub fn init_threads(&self) -> Result<usize> {
        let threads = self.threads.unwrap_or(0);
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .context("cannot start the worker threads")?;
        Ok(rayon::current_num_threads())
    }
}
