//! `cargo xtask bench [NAME]`: our code and its peers on the same inputs, in turns, in one run.

mod graph;
mod model;
mod report;

use anyhow::Result;
use clap::ValueEnum;

use crate::root::workspace_root;
use crate::setup::{self, Policy};

/// Which bench.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The bench [default: all]
    #[arg(value_enum)]
    name: Option<Bench>,
    /// How often ours and the peer take turns; the best of each counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// The benches that exist.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Bench {
    /// Canonical order and mask against pynauty and igraph
    Graph,
    /// Training and encoding against PyTorch
    Model,
}

/// Runs the bench, prints its table and merges it into `runs/bench.json`.
pub fn run(args: &Args, policy: Policy) -> Result<()> {
    let root = workspace_root();
    let environment = setup::ensure(policy)?;
    let benches = args.name.as_ref().map_or(Bench::value_variants(), std::slice::from_ref);
    for bench in benches {
        let (prefix, rows) = match bench {
            Bench::Graph => ("graph/", graph::run(&root, &environment, args.rounds)?),
            Bench::Model => ("model/", model::run(&root, &environment, args.rounds)?),
        };
        print!("{}", report::table(&rows));
        report::merge(&root.join("runs/bench.json"), prefix, &rows)?;
    }
    Ok(())
}
