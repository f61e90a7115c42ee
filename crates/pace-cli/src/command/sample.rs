//! `pace sample`: random graphs of a space, to try things out or to have something to search among.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use pace_formats::{Format, GraphFormat};
use pace_graph::enumerate::{Darts, Enas, Nas101Space, Sampler, SpecSpace, UniformBn};
use pace_graph::{GraphKey, Named};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use crate::file::write_file;
use crate::search::{Allow, AllowArg};
use crate::source::{HowArgs, read_spec};
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  pace sample nas101 -n 1000 --out cells.jsonl      cells of NAS-Bench-101
  pace sample spec.json -n 100 --out graphs.dot     graphs of your own spec, which pace inspect --write-spec writes
";

/// Draw random graphs of a known space, or of a spec
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// nas101, enas, darts, bn, or the file of a spec
    #[arg(value_name = "SPACE")]
    space: String,
    /// How many different graphs
    #[arg(long, short, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    n: u32,
    /// A rule that no spec can say: cmd:COMMAND, which is started once and answers yes or no to every line of JSON, or list:FILE
    #[arg(long, value_name = "RULE")]
    allow: Option<AllowArg>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The file for the graphs; its ending says the format
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Draws without a new graph before the space counts as exhausted.
const PATIENCE: usize = 10_000;

/// Runs the command.
///
/// # Errors
/// If there is no such space, or the file cannot be written.
pub fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    let format = Format::of(&args.out);
    let format = format.with_context(|| format!("the ending of {} names no format of graphs", args.out.display()))?;
    let sampler: Box<dyn Sampler> = match args.space.as_str() {
        "nas101" => Box::new(Nas101Space::enumerate()),
        "enas" => Box::new(Enas::default()),
        "darts" => Box::new(Darts),
        "bn" => Box::new(UniformBn::default()),
        path if path.ends_with(".json") => Box::new(SpecSpace::new(read_spec(Path::new(path))?)),
        other => {
            bail!("there is no space '{other}'; there are nas101, enas, darts, bn, and spec files that end in .json")
        }
    };
    let name = Path::new(&args.space).file_stem().and_then(|stem| stem.to_str()).unwrap_or("graph");
    let (spec, mut rng) = (sampler.spec(), ChaCha8Rng::seed_from_u64(args.seed));
    let allow = Allow::of(args.allow.as_ref(), &HowArgs::default(), &spec, terminal)?;
    let (mut seen, mut graphs, mut misses) = (std::collections::HashSet::new(), Vec::new(), 0);
    while graphs.len() < args.n as usize && misses < PATIENCE {
        let dag = sampler.sample(&mut rng);
        if seen.insert(GraphKey::of(&dag)) && allow.allows(&dag) {
            misses = 0;
            let id = Some(format!("{name}-{}", graphs.len() + 1));
            graphs.push(Named { id, ..Named::of(&spec, &dag)? });
        } else {
            misses += 1;
        }
    }
    allow.check()?;
    if graphs.len() < args.n as usize {
        terminal.warn(format!("the space seems to have only {} different graphs that are allowed", graphs.len()));
    }
    write_file(&args.out, |out| Ok(format.write(&mut graphs.iter(), out)?))?;
    let result = json!({"graphs": graphs.len(), "out": args.out});
    terminal.result(&result, || format!("{} different graphs written to {}", graphs.len(), args.out.display()))
}
