//! `pace man`: manual pages.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::args::Cli;
use crate::terminal::Terminal;

/// Write the manual pages, one per command
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder for the pages, e.g. ~/.local/share/man/man1
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// If a page cannot be written.
pub fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    std::fs::create_dir_all(&args.dir).with_context(|| format!("cannot make {}", args.dir.display()))?;
    clap_mangen::generate_to(Cli::command(), &args.dir)
        .with_context(|| format!("cannot write into {}", args.dir.display()))?;
    terminal.result(&serde_json::json!({"dir": args.dir}), || format!("pages written to {}", args.dir.display()))
}
