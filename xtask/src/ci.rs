//! `cargo xtask ci`: what a reviewer would run before merging.

use anyhow::Result;
use clap::ValueEnum;

use crate::cargo::{cargo, run as run_command};
use crate::setup::{self, Environment, Policy};

/// Which steps to run.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The steps, in the order to run them [default: all]
    #[arg(value_enum)]
    steps: Vec<Step>,
}

/// One step of the check.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Step {
    /// cargo fmt --check
    Fmt,
    /// cargo clippy, warnings are errors
    Clippy,
    /// cargo test (the house rules are among the tests)
    Test,
    /// cargo doc, warnings are errors
    Doc,
}

/// Runs the steps and stops at the first that fails.
pub fn run(args: &Args, policy: Policy) -> Result<()> {
    let environment = setup::ensure(policy)?;
    let steps = if args.steps.is_empty() { Step::value_variants() } else { &args.steps };
    for step in steps {
        eprintln!("ci: {}", step.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default());
        step.run(&environment)?;
    }
    Ok(())
}

impl Step {
    /// Everything in the release profile: nauty's C code and the build scripts are then built once for all steps.
    fn run(self, environment: &Environment) -> Result<()> {
        let mut command = cargo(environment);
        match self {
            Step::Fmt => command.args(["fmt", "--all", "--check"]),
            Step::Clippy => {
                command.args(["clippy", "--release", "--workspace", "--all-targets", "--", "-D", "warnings"])
            }
            Step::Test => command.args(["test", "--release", "--workspace"]),
            Step::Doc => {
                command.env("RUSTDOCFLAGS", "-D warnings").args(["doc", "--release", "--workspace", "--no-deps"])
            }
        };
        run_command(&mut command)
    }
}
