//! `pace report`: the page of a run.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::json;

use crate::file::write_file;
use crate::page;
use crate::source::{HowArgs, SourceArgs, load};
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  pace report model                                        losses and numbers of a training
  pace report model --graphs graphs.jsonl --out map.html   and a map of these graphs, with their scores as colours
  pace report study                                        the best graphs of a search, drawn
";

/// Write the page of a run: one file to look at, without anything from elsewhere
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The folder of a model or of a search
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Graphs for a map of the model's vectors
    #[arg(long, value_name = "GRAPHS")]
    graphs: Option<PathBuf>,
    #[command(flatten)]
    how: HowArgs,
    /// The page [default: report.html in the folder of the run]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// If the folder holds no run, or the page cannot be written.
pub fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    let mut page = page::of_run(&args.run)?;
    if let Some(path) = &args.graphs {
        let model = pace_kit::Model::load(&args.run)?;
        let source = SourceArgs { path: path.clone(), how: args.how.clone() };
        let graphs = load(&source, Some(model.spec().clone()), terminal)?;
        page::add_map(&mut page, &model, &graphs)?;
    }
    let out = args.out.clone().unwrap_or_else(|| args.run.join(page::FILE));
    write_file(&out, |file| {
        use std::io::Write;
        Ok(file.write_all(page.html().as_bytes())?)
    })
    .context("the page")?;
    terminal.result(&json!({"page": out}), || format!("page: {}", out.display()))
}
