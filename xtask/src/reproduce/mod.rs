//! `cargo xtask reproduce <id>`: sets up, then runs the program of one dataset, or of all of them.

mod all;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::cargo::{build, program, run as run_command};
use crate::report::Allow;
use crate::setup::{self, Policy};

/// Which dataset, and the options of its program.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The dataset
    #[arg(value_enum)]
    dataset: Dataset,
    /// Folder with the datasets [default: PACE_DATA, then ../shared/data, then datasets/.cache]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Folder for the results; a killed run resumes from there. Of all: the folder that holds theirs [default:
    /// runs/DATASET-ENCODER-SEED]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Seed of everything random
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The encoder [default: the dataset's own]
    #[arg(long, value_name = "NAME")]
    encoder: Option<String>,
    /// Repetitions with different seeds: of the encoder (na, bn) or of the searches (nas101, nas301); code2 has none
    #[arg(long, value_name = "N")]
    seeds: Option<usize>,
    /// Delete what the folder for the results holds and start anew
    #[arg(long)]
    fresh: bool,
    /// All stages on little work, in under a minute
    #[arg(long)]
    smoke: bool,
    #[command(flatten)]
    allow: Allow,
    /// More options of the dataset's program, after `--`; `-- --help` lists them
    #[arg(last = true, value_name = "OPTIONS")]
    rest: Vec<OsString>,
}

/// The datasets that have an experiment; each is a binary of the examples package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Dataset {
    /// ENAS architectures: Tables 1, 6 and 7
    Na,
    /// Bayesian networks: Tables 1, 6 and 7
    Bn,
    /// NAS-Bench-101: Table 2
    Nas101,
    /// NAS-Bench-301: Table 2
    Nas301,
    /// Python functions: Table 3
    Code2,
    /// Every table but CODE2, which trains for hours, the longest last, each with its page of docs/results. Resumes; wants committed code and the real data
    All,
}

impl Dataset {
    /// What `all` stands for: the tables that take less than an hour each.
    const TABLES: [Dataset; 4] = [Dataset::Nas301, Dataset::Nas101, Dataset::Na, Dataset::Bn];

    /// The binary is called like the dataset on the command line.
    fn binary(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

impl Args {
    /// The options as given, with another folder for the results. What is left out, the program decides.
    fn forwarded(&self, out: Option<&Path>) -> Result<Vec<OsString>> {
        let mut args = Vec::new();
        // The program runs at the root of the workspace; a relative path starts from the folder of the user.
        for (flag, path) in [("--data", self.data.as_deref()), ("--out", out)] {
            if let Some(path) = path {
                args.extend([flag.into(), std::path::absolute(path)?.into_os_string()]);
            }
        }
        let numbers = [
            ("--threads", self.threads.map(|number| number.to_string())),
            ("--seed", self.seed.map(|number| number.to_string())),
            ("--encoder", self.encoder.clone()),
            ("--seeds", self.seeds.map(|number| number.to_string())),
        ];
        for (flag, value) in numbers {
            args.extend(value.into_iter().flat_map(|value| [flag.into(), OsString::from(value)]));
        }
        let switches = [("--fresh", self.fresh), ("--smoke", self.smoke)];
        args.extend(switches.into_iter().filter(|(_, on)| *on).map(|(flag, _)| flag.into()));
        args.extend(self.rest.iter().cloned());
        Ok(args)
    }
}

/// Builds and runs the program, or all of them.
pub fn run(args: &Args, policy: Policy) -> Result<()> {
    if args.dataset == Dataset::All {
        return all::run(args, policy);
    }
    if args.allow.allow_dirty || args.allow.allow_embedded {
        bail!("--allow-dirty and --allow-embedded are about pages, which only `all` and `cargo xtask report` write");
    }
    let environment = setup::ensure(policy)?;
    let path = build(&environment, ["--bin", &args.dataset.binary()])?;
    run_command(program(&path).args(args.forwarded(args.out.as_deref())?))
}

#[cfg(test)]
pub mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    pub struct Cli {
        #[command(flatten)]
        pub args: Args,
    }

    fn forwarded(words: &[&str]) -> Vec<OsString> {
        let words = ["reproduce"].iter().chain(words);
        let args = Cli::parse_from(words).args;
        args.forwarded(args.out.as_deref()).unwrap()
    }

    #[test]
    fn only_given_options_are_forwarded() {
        assert!(forwarded(&["nas101"]).is_empty());
        assert_eq!(forwarded(&["na", "--smoke", "--threads", "2"]), ["--threads", "2", "--smoke"]);
        assert_eq!(forwarded(&["bn", "--seeds", "3", "--", "--no-mask"]), ["--seeds", "3", "--no-mask"]);
    }

    #[test]
    fn relative_folders_are_made_absolute() {
        let here = std::env::current_dir().unwrap().join("here");
        let expected = ["--out".as_ref(), here.as_os_str(), "--seed".as_ref(), "3".as_ref()];
        assert_eq!(forwarded(&["nas101", "--out", "here", "--seed", "3"]), expected);
    }
}
