//! The commands of this workspace, run as `cargo xtask <command>`.
//!
//! This crate depends on none of the others. It builds in seconds on a machine on which they cannot build yet, and sets that
//! machine up so that they can ([`setup`]).

mod asm;
mod bench;
mod browser;
mod cargo;
mod ci;
mod deny;
mod dist;
mod distill;
#[cfg(unix)]
mod faults;
mod fetch;
mod fuzz;
mod git;
mod libclang;
mod metadata;
mod mpi;
mod msrv;
#[cfg(unix)]
mod postgres;
mod python;
mod report;
mod reproduce;
mod root;
mod sanitize;
mod setup;
mod test;
mod tidy;
mod venv;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The examples below the help text: what a newcomer types first.
const EXAMPLES: &str = "\
Examples:
  cargo xtask reproduce na               train PACE-VAE on NA and reproduce the paper's tables (a quarter of an hour)
  cargo xtask reproduce nas101           enumerate, pre-train on and search NAS-Bench-101; write runs/nas101-*/report.html
  cargo xtask reproduce nas101 --smoke   the same stages on little work, under a minute after the build
  cargo xtask reproduce all              every table, the longest last, each with its page of docs/results
  cargo xtask test                       every test of the workspace, as CI runs it
  cargo xtask test -p pace-graph canon   the tests of one crate whose name contains `canon`
  cargo xtask fetch nas101               download the public data of one dataset into datasets/.cache
  cargo xtask bench graph                time us against the Python peers, write runs/bench.json
  cargo xtask bench kernel --check       time every CPU kernel, fail if one is slower than its peer
  cargo xtask ci package                 check that the library crates can be packaged
  cargo xtask ci deny msrv               check the licences, origins and ages of all dependencies
  cargo xtask ci asm                     check that the CPU kernels were compiled to full vectors
  cargo xtask ci python                  build the wheel, install it and test it beside the packages it works with
  cargo xtask dist                       pack the programs and the wheel into target/dist for people without Rust
  cargo xtask setup                      find or install libclang and print the exports for plain cargo

Commands that build the workspace do the set-up by themselves; nothing has to be installed first beyond Rust, a C
compiler and python3.";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "Set-up, tests, reproductions and benches of PACE", after_help = EXAMPLES)]
struct Cli {
    /// Never install a system package: use what is there or a virtual environment below target/
    #[arg(long, global = true)]
    no_system_install: bool,
    #[command(subcommand)]
    command: Command,
}

/// One command per file.
#[derive(Debug, Subcommand)]
enum Command {
    /// Find libclang (nauty's bindings need it), install it if missing, print the exports for plain cargo
    Setup(setup::Args),
    /// Run every test of the workspace; extra arguments go to `cargo test`
    Test(test::Args),
    /// Run the experiment of one dataset, or of all; write results.json and report.html. Resumes a killed run
    Reproduce(reproduce::Args),
    /// Write a page of docs/results from the results.json of a finished run
    Report(report::Args),
    /// Train the stand-in that pace-search embeds for a dataset, from the dataset's real files
    Distill(distill::Args),
    /// Download the public data of one dataset into datasets/.cache (resumable, checksums verified)
    Fetch(fetch::Args),
    /// Time the crates against their peers and write runs/bench.json
    Bench(bench::Args),
    /// Check the rules of CONTRIBUTING.md (also run as a test), and name the result pages that are older than the code
    Tidy(tidy::Args),
    /// Build the programs for people without Rust and pack them into target/dist, with licences and checksum
    Dist(dist::Args),
    /// Format check, clippy, tests and docs, as a reviewer would
    Ci(ci::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let policy = setup::Policy { system_install: !cli.no_system_install, dry_run: false };
    let done = match cli.command {
        Command::Setup(args) => setup::run(&args, policy),
        Command::Test(args) => test::run(&args, policy),
        Command::Reproduce(args) => reproduce::run(&args, policy),
        Command::Report(args) => report::run(&args),
        Command::Distill(args) => distill::run(&args, policy),
        Command::Fetch(args) => fetch::run(&args),
        Command::Bench(args) => bench::run(&args, policy),
        Command::Tidy(args) => tidy::run(&args),
        Command::Dist(args) => dist::run(&args, policy),
        Command::Ci(args) => ci::run(&args, policy),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
