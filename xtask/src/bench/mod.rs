//! `cargo xtask bench [NAME]`: our code and its peers on the same inputs, in turns, in one run.

mod allocator;
mod bn;
mod encoders;
mod graph;
mod growth;
mod kernel;
mod machine;
mod model;
mod mpi;
mod peer;
mod python;
mod rates;
mod report;
mod search;
mod torch;
mod variant;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::ValueEnum;

use crate::root::workspace_root;
use crate::setup::{self, Policy};

/// Below the help text: which bench answers which question.
const EXAMPLES: &str = "\
Examples:
  cargo xtask bench bn                   Bayesian networks of sachs, child and alarm: score, proof and time against pgmpy's hill climbing
  cargo xtask bench growth --rounds 1    what a tree of N nodes costs: one process per size, so that peak memory is its own
  cargo xtask bench kernel --check       every CPU kernel against its plain twin, our matrix product against gemm's; fails if
                                         one of ours is slower
  cargo xtask bench encoders             Figure 4: PACE, D-VAE and DAGNN on graphs of every dataset, and on deep chains; with plots
  cargo xtask bench model --task ast     only the trees
  cargo xtask bench model                graphs per second against PyTorch (installed below target/, once) under all its options:
                                         41 minutes the first time, when PyTorch compiles

Every bench prints a table and replaces its rows in runs/bench.json, with the machine: its CPU, the SIMD level of our kernels
(PACE_SIMD=portable|v3|v4|neon forces one), and how many cores others kept busy in the second before each round. `model`
compares medians and tries every option of its peer first; the other benches compare the best of all rounds, because other
programs only ever add to a time.";

/// Which bench.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The bench [default: all]
    #[arg(value_enum)]
    name: Option<Bench>,
    /// How often ours and the peer take turns; the best of each counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// For `model`: only the tasks whose name starts so, e.g. "ast" or "vae-na batch 256"
    #[arg(long, value_name = "NAME", default_value = "")]
    task: String,
    /// For `model`: only the variants of the peer whose name contains this, e.g. "eager"
    #[arg(long, value_name = "NAME", default_value = "")]
    variant: String,
    /// For `kernel`: fail if a kernel is slower than its peer
    #[arg(long)]
    check: bool,
    /// For `search`: embeddings.safetensors of a finished run of NA [default: vectors like it, made from a seed]
    #[arg(long, value_name = "FILE")]
    embeddings: Option<PathBuf>,
}

/// The benches that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Bench {
    /// Learning Bayesian networks against pgmpy
    Bn,
    /// Speed of PACE, D-VAE and DAGNN: Figure 4 of the paper, into runs/speed (no peer, no Python)
    Encoders,
    /// Canonical order and mask against pynauty and igraph
    Graph,
    /// Time and memory per syntax tree of 8 to 30,000 nodes, and the exponents of their growth (no peer, no Python)
    Growth,
    /// The CPU kernels against their plain twins, and our matrix product against gemm's (no Python)
    Kernel,
    /// Training and encoding against PyTorch
    Model,
    /// Two MPI processes of one thread against one process: training and encoding (no peer, no Python)
    Mpi,
    /// The Python package from networkx and numpy to vectors, against PyTorch and against Rust
    Python,
    /// The sparse Gaussian process against GPyTorch
    Search,
}

/// Runs the bench, prints its table and merges it into `runs/bench.json`.
pub fn run(args: &Args, policy: Policy) -> Result<()> {
    let has_kernel = args.name.is_none_or(|name| name == Bench::Kernel);
    ensure!(
        !args.check || has_kernel,
        "--check is for `cargo xtask bench kernel`: the other benches have no limit to check"
    );
    let root = workspace_root();
    let environment = setup::ensure(policy)?;
    let benches = args.name.as_ref().map_or(Bench::value_variants(), std::slice::from_ref);
    let (mut loaded, mut checked): (Option<f64>, _) = (None, Ok(()));
    for bench in benches {
        let (prefix, rows) = match bench {
            Bench::Encoders => {
                encoders::run(&root, &environment, args.rounds)?;
                continue;
            }
            Bench::Bn => ("bn/".to_owned(), bn::run(&root, &environment, args.rounds)?),
            Bench::Graph => ("graph/".to_owned(), graph::run(&root, &environment, args.rounds)?),
            Bench::Growth => ("growth/".to_owned(), growth::run(&environment, args.rounds)?),
            Bench::Kernel => ("kernel/".to_owned(), kernel::run(&environment, args.rounds, args.check)?),
            Bench::Model => {
                let plan = model::Plan { rounds: args.rounds, task: &args.task, variant: &args.variant };
                (format!("model/{}", args.task), model::run(&root, &environment, &plan)?)
            }
            Bench::Mpi => ("mpi/".to_owned(), mpi::run(&environment, policy, args.rounds)?),
            Bench::Python => ("python/".to_owned(), python::run(&root, &environment, args.rounds)?),
            Bench::Search => {
                ("search/".to_owned(), search::run(&root, &environment, args.rounds, args.embeddings.as_deref())?)
            }
        };
        print!("{}", report::table(&rows));
        report::merge(&root.join("runs/bench.json"), &prefix, &rows)?;
        if args.check && *bench == Bench::Kernel {
            checked = kernel::check(&rows);
        }
        loaded = loaded.into_iter().chain(report::loaded(&rows)).reduce(f64::max);
    }
    if let Some(busy) = loaded {
        eprintln!("bench: the machine was loaded, others kept up to {busy:.1} cores busy; run again when it is idle");
    }
    checked
}
