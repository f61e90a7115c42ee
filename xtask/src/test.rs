//! `cargo xtask test`: every test of the workspace, on a machine that may still lack libclang.

use std::ffi::OsString;

use anyhow::{Context, Result};

use crate::cargo::{cargo, choose_packages, run as run_command};
use crate::root::workspace_root;
use crate::setup::{self, Environment, Policy};

/// The environment variable that names the list of skipped tests; `pace-checkout` appends to it.
const SKIPPED: &str = "PACE_SKIPPED";

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
    run_in(&setup::ensure(policy)?, &args.extra)
}

/// Tests, and says at the end which tests skipped themselves for want of data.
pub fn run_in(environment: &Environment, extra: &[OsString]) -> Result<()> {
    let list = workspace_root().join(format!("target/skipped-{}.txt", std::process::id()));
    std::fs::create_dir_all(workspace_root().join("target")).context("could not make target/")?;
    std::fs::write(&list, "").with_context(|| format!("could not write {}", list.display()))?;
    let mut command = cargo(environment);
    command.args(["test", "--release"]);
    if !choose_packages(extra) {
        command.arg("--workspace");
    }
    let outcome = run_command(command.args(extra).env(SKIPPED, &list));
    let skipped = std::fs::read_to_string(&list).with_context(|| format!("could not read {}", list.display()))?;
    // Doctests run in processes of their own; nothing else is left to remove it.
    std::fs::remove_file(&list).ok();
    println!("{}", summary(&skipped));
    outcome
}

/// The last word of a test run: how many tests were skipped, and which.
fn summary(skipped: &str) -> String {
    let lines: Vec<&str> = skipped.lines().collect();
    match lines.len() {
        0 => "test: no test was skipped".to_owned(),
        n => format!(
            "\n{}\ntest: {n} TESTS SKIPPED FOR WANT OF DATA; `cargo xtask fetch` downloads what is public, PACE_DATA names \
             a folder",
            lines.join("\n")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_tests_are_named_and_counted() {
        assert_eq!(summary(""), "test: no test was skipped");
        let summary = summary("SKIPPED a::b: no na/x\nSKIPPED c: no bn/y\n");
        assert!(summary.contains("SKIPPED a::b: no na/x\nSKIPPED c: no bn/y\ntest: 2 TESTS SKIPPED"), "{summary}");
    }
}
