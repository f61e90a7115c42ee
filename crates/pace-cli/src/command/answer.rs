//! `pace answer`: score the graphs that a search in another process asks about.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::json;

use crate::progress;
use crate::search::{OracleArg, Progress, Scorer, answer_all, join};
use crate::source::HowArgs;
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  pace answer study --oracle cmd:./score.sh --workers 4
  pace answer 'postgres://ann@db.example.org/lab?study=na' --oracle cmd:./score.sh      on any host

Any number of processes may answer; each query is evaluated by one of them. If a process is killed, another takes its queries;
in a database after a minute. PGPASSWORD holds the password if the address has none.
";

/// Answer the queries of a search that runs elsewhere on this file system, or anywhere if they are in a database
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The folder of the search, or what it was given as --study
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// Who scores: cmd:COMMAND, or table:FILE
    #[arg(long, value_name = "ORACLE")]
    oracle: OracleArg,
    /// Evaluations at a time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    workers: u32,
    /// Seconds after which a command is ended and its query counts as failed
    #[arg(long, value_name = "X")]
    timeout: Option<f64>,
    #[command(flatten)]
    how: HowArgs,
}

/// Runs the command.
///
/// # Errors
/// If there is no such search, or its answers cannot be written.
pub fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    if args.timeout.is_some_and(|seconds| !(seconds > 0.0 && seconds < 1e9)) {
        bail!("--timeout must be a number of seconds above 0");
    }
    let (study, shared) = join(&args.study)?;
    let timeout = args.timeout.map(Duration::from_secs_f64);
    let (scorer, _) = Scorer::of(&args.oracle, &args.how, Some(&study.spec), timeout, terminal)?;
    let shared = Mutex::new(shared);
    let bar = terminal.bar(progress::steps("answer", study.queries));
    let observe = |now: Progress| bar.set_position(now.n_answered as u64);
    answer_all(&shared, &scorer, (study.queries, args.workers as usize), &observe)?;
    bar.finish_and_clear();
    terminal.result(&json!({"queries": study.queries}), || format!("all {} queries have answers", study.queries))
}
