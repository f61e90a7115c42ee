//! The command `pace`: your own DAGs in, vectors, predictions, new graphs and searches out.
//!
//! ```text
//! graphs ──► inspect (what is in there? a spec) ──► train (a model: one folder) ──► encode, predict, generate, similar
//!                        └────────────────────────────► search (ask your own program for scores)
//! ```
//!
//! What a command does is `pace-kit`'s business, which programs without a command line use, too. Here are the options, the files, the
//! programs of the user's that score and allow, and the pages. Every command reads graphs through `source`, and keeps what it does in a
//! run folder like that of `cargo xtask reproduce`. What is printed goes through `terminal`: text for people, `--json` for programs.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong options.

mod args;
mod command;
mod file;
mod page;
mod progress;
mod ranks;
mod search;
mod source;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

/// Parses the options of the process, does what they ask for, and says how it went.
pub fn run() -> ExitCode {
    let cli = args::Cli::parse();
    match cli.run() {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads our output may stop reading, as `head` does; nothing is wrong with that.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pace: {}", pace_kit::sentence(&error));
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind =
        |cause: &(dyn std::error::Error + 'static)| cause.downcast_ref::<std::io::Error>().map(|error| error.kind());
    error.chain().any(|cause| kind(cause) == Some(std::io::ErrorKind::BrokenPipe))
}
