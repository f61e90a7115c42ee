//! `cargo xtask ci deny`: licences, versions and origins of all dependencies, by cargo-deny and `deny.toml`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::cargo::{cargo, run as run_command};
use crate::root::workspace_root;
use crate::setup::Environment;

/// One version for all machines, so that they agree on what is clean.
const VERSION: &str = "0.20.2";

/// Installs cargo-deny below `target/tools` if it is not there, and runs the checks that need no network.
pub fn run(environment: &Environment) -> Result<()> {
    let program = install(environment)?;
    eprintln!("deny: without advisories: their database is a git repository that would be fetched from the network");
    let mut command = Command::new(program);
    command.current_dir(workspace_root()).args(["--locked", "check", "--hide-inclusion-graph"]);
    run_command(command.args(["licenses", "bans", "sources"]))
}

/// The folder names the version, so another version is installed beside it.
fn install(environment: &Environment) -> Result<PathBuf> {
    let root = workspace_root().join(format!("target/tools/cargo-deny-{VERSION}"));
    let program = root.join("bin").join(format!("cargo-deny{}", std::env::consts::EXE_SUFFIX));
    if !program.is_file() {
        eprintln!("deny: installing cargo-deny {VERSION} in {}, a few minutes once", root.display());
        let mut command = cargo(environment);
        // A folder of its own: builds of the workspace need not wait for it.
        command.env("CARGO_TARGET_DIR", workspace_root().join("target/tools/build"));
        command.args(["install", "--quiet", "--locked", "--version", VERSION, "--root"]).arg(&root).arg("cargo-deny");
        run_command(&mut command).with_context(|| {
            format!("could not install cargo-deny; install {VERSION} yourself and link it to {}", program.display())
        })?;
    }
    Ok(program)
}
