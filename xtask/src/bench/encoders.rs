//! The bench of encoders: the program `speed` of the examples measures PACE, D-VAE and DAGNN and draws Figure 4.

use std::path::Path;

use anyhow::Result;

use super::machine::Machine;
use crate::cargo::{build, program, run as run_command};
use crate::setup::Environment;

/// Where it writes; `cargo xtask report` makes a page of it.
const OUT: &str = "runs/speed";

/// Builds the program and runs it anew.
pub fn run(root: &Path, environment: &Environment, rounds: u32) -> Result<()> {
    eprintln!("bench: building");
    let speed = build(environment, ["--bin", "speed"])?;
    let mut machine = Machine::new();
    machine.watch();
    println!("{machine}");
    let out = root.join(OUT);
    run_command(program(&speed).args(["--fresh", "--rounds", &rounds.to_string(), "--out"]).arg(&out))?;
    println!("bench: `cargo xtask report --allow-embedded {OUT}` makes a page of it");
    Ok(())
}
