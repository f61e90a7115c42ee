//! `cargo xtask reproduce <id>`: sets up, then runs the example of one dataset.

use std::path::PathBuf;

use anyhow::Result;
use clap::ValueEnum;

use crate::cargo::{cargo, run as run_command};
use crate::setup::{self, Policy};

/// Which dataset, and the options that its example understands.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The dataset
    #[arg(value_enum)]
    dataset: Dataset,
    /// Folder with the datasets [default: PACE_DATA, then ../shared/data, then datasets/.cache]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Folder for the results [default: a folder of its own below runs/]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Seed of everything random
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// All stages on little work
    #[arg(long)]
    smoke: bool,
}

/// The datasets whose pipeline exists; each is a binary of the examples package.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Dataset {
    /// NAS-Bench-101
    Nas101,
}

impl Dataset {
    fn binary(self) -> &'static str {
        match self {
            Dataset::Nas101 => "nas101",
        }
    }
}

impl Args {
    /// The options as given: what is left out is the example's to decide.
    fn forwarded(&self) -> Result<Vec<std::ffi::OsString>> {
        let mut args = Vec::new();
        // The example runs at the root of the workspace; a relative path means the folder the user stands in.
        for (flag, path) in [("--data", &self.data), ("--out", &self.out)] {
            if let Some(path) = path {
                args.extend([flag.into(), std::path::absolute(path)?.into_os_string()]);
            }
        }
        if let Some(threads) = self.threads {
            args.extend(["--threads".into(), threads.to_string().into()]);
        }
        if let Some(seed) = self.seed {
            args.extend(["--seed".into(), seed.to_string().into()]);
        }
        if self.smoke {
            args.push("--smoke".into());
        }
        Ok(args)
    }
}

/// Builds and runs the example.
pub fn run(args: &Args, policy: Policy) -> Result<()> {
    let environment = setup::ensure(policy)?;
    let mut command = cargo(&environment);
    command.args(["run", "--release", "--package", "pace-examples", "--bin", args.dataset.binary(), "--"]);
    run_command(command.args(args.forwarded()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_given_options_are_forwarded() {
        let mut args =
            Args { dataset: Dataset::Nas101, data: None, out: None, threads: None, seed: None, smoke: false };
        assert!(args.forwarded().unwrap().is_empty());
        args.threads = Some(2);
        args.smoke = true;
        assert_eq!(args.forwarded().unwrap(), ["--threads", "2", "--smoke"]);
    }

    #[test]
    fn relative_folders_are_made_absolute() {
        let out = Some(PathBuf::from("here"));
        let args = Args { dataset: Dataset::Nas101, data: None, out, threads: None, seed: Some(3), smoke: false };
        let here = std::env::current_dir().unwrap().join("here");
        assert_eq!(args.forwarded().unwrap(), ["--out".as_ref(), here.as_os_str(), "--seed".as_ref(), "3".as_ref()]);
    }
}
