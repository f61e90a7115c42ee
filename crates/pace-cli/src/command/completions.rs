//! `pace completions`: what a shell needs to complete `pace`.

use anyhow::Result;
use clap::CommandFactory;

use crate::args::Cli;

/// Print the completions of a shell, e.g. `pace completions bash > /etc/bash_completion.d/pace`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// Runs the command.
///
/// # Errors
/// None yet; for the likeness of commands.
pub fn run(args: &Args) -> Result<()> {
    clap_complete::generate(args.shell, &mut Cli::command(), "pace", &mut std::io::stdout());
    Ok(())
}
