//! `cargo xtask test`: every test of the workspace, on a machine that may still lack libclang.

use std::ffi::OsString;

use anyhow::Result;

use crate::cargo::{cargo, choose_packages, run as run_command};
use crate::setup::{self, Policy};

/// What to test.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Handed to `cargo test`, e.g. `-p pace-graph`, a part of a test's name, or `-- --nocapture`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CARGO TEST ARGUMENTS")]
    extra: Vec<OsString>,
}

/// Sets up and tests in the release profile.
///
/// The `cargo xtask` alias builds this crate in the same profile, so its own tests reuse what is already built, and a
/// reproduction after the tests builds nothing twice.
pub fn run(args: &Args, policy: Policy) -> Result<()> {
    let environment = setup::ensure(policy)?;
    let mut command = cargo(&environment);
    command.args(["test", "--release"]);
    if !choose_packages(&args.extra) {
        command.arg("--workspace");
    }
    run_command(command.args(&args.extra))
}
