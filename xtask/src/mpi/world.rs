//! `pace` with MPI, alone and under `mpirun`.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::cargo::{build_with, capture};
use crate::setup::{Environment, Policy, install_packages};

/// The Debian packages with the library, its headers and `mpirun`.
const PACKAGES: [&str; 2] = ["libopenmpi-dev", "openmpi-bin"];

/// The program.
pub struct Pace(PathBuf);

/// Builds it; installs what is missing and we may.
pub fn pace(environment: &Environment, policy: Policy) -> Result<Pace> {
    let is_there = || ["mpicc", "mpirun"].iter().all(|name| capture(Command::new(name).arg("--version")).is_ok());
    if !is_there() {
        eprintln!("mpi: no mpicc or no mpirun on this machine");
        install_packages(policy, &PACKAGES)
            .context("install an MPI library yourself and run the command again, e.g. Open MPI")?;
    }
    Ok(Pace(build_with(environment, ["--bin", "pace"], "pace-cli/mpi")?))
}

impl Pace {
    /// One process, and what it printed.
    pub fn alone(&self, args: &[&str], threads: usize) -> Result<String> {
        capture(Command::new(&self.0).args(args).args(["--threads", &threads.to_string()]))
    }

    /// Several processes, and what they printed.
    pub fn together(&self, size: usize, args: &[&str], threads: usize) -> Result<String> {
        capture(&mut self.command(size, args, threads))
    }

    /// Several processes; what they say is kept for whoever asks.
    pub fn command(&self, size: usize, args: &[&str], threads: usize) -> Command {
        let mut command = Command::new("mpirun");
        // More processes than cores are no mistake here, nor is root in a container.
        command.args(["--oversubscribe", "--allow-run-as-root", "-n", &size.to_string()]).arg(&self.0);
        command.args(args).args(["--threads", &threads.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}
