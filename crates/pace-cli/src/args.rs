//! The options of `pace`.

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::command;
use crate::ranks;
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  pace inspect graphs.jsonl                              what is in there, and a spec for it
  pace train graphs.jsonl --objective mlm --out model    an encoder that needs no scores
  pace encode model graphs.jsonl --out vectors.npy       a vector per graph
  pace predict graphs.jsonl --model model                do the vectors predict your scores? better than plain features?
  pace similar model graphs.jsonl --of resnet            the nearest graphs
  pace search graphs.jsonl --oracle cmd:./score.sh       find graphs that your own program scores high
  pace bn learn data.csv --out network                   a Bayesian network with a certificate
";

/// Vectors for your own directed acyclic graphs, and searches that use them
#[derive(Debug, Parser)]
#[command(name = "pace", version, after_help = EXAMPLES, propagate_version = true)]
pub struct Cli {
    #[command(flatten)]
    terminal: Terminal,
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N", global = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
enum Command {
    Sample(command::sample::Args),
    Inspect(command::inspect::Args),
    Convert(command::convert::Args),
    Train(command::train::Args),
    Encode(command::encode::Args),
    Predict(command::predict::Args),
    Generate(command::generate::Args),
    Similar(command::similar::Args),
    Search(command::search::Args),
    Answer(command::answer::Args),
    Bn(command::bn::Args),
    Report(command::report::Args),
    Completions(command::completions::Args),
    Man(command::man::Args),
}

impl Cli {
    /// Does it.
    pub fn run(self) -> Result<()> {
        rayon::ThreadPoolBuilder::new().num_threads(usize::from(self.threads.unwrap_or(0))).build_global()?;
        let terminal = &self.terminal;
        match &self.command {
            Command::Sample(args) => command::sample::run(args, terminal),
            Command::Inspect(args) => command::inspect::run(args, terminal),
            Command::Convert(args) => command::convert::run(args, terminal),
            Command::Train(args) => ranks::together(|ranks| command::train::run(args, ranks, &terminal.of(ranks))),
            Command::Encode(args) => ranks::together(|ranks| command::encode::run(args, ranks, &terminal.of(ranks))),
            Command::Predict(args) => command::predict::run(args, terminal),
            Command::Generate(args) => command::generate::run(args, terminal),
            Command::Similar(args) => command::similar::run(args, terminal),
            Command::Search(args) => command::search::run(args, terminal),
            Command::Answer(args) => command::answer::run(args, terminal),
            Command::Bn(args) => command::bn::run(args, terminal),
            Command::Report(args) => command::report::run(args, terminal),
            Command::Completions(args) => command::completions::run(args),
            Command::Man(args) => command::man::run(args, terminal),
        }
    }
}
