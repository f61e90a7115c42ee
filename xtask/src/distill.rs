//! `cargo xtask distill <id>`: trains the stand-in of a dataset that pace-search embeds.

use std::ffi::OsString;

use anyhow::Result;

use crate::cargo::{build, program, run as run_command};
use crate::setup::{self, Policy};

/// Which stand-in, and the options of its program.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The dataset (na, nas101 or nas301) and its options, e.g. `na --data DIR`; `na --help` lists them
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "DATASET")]
    words: Vec<OsString>,
}

/// Builds and runs the program.
pub fn run(args: &Args, policy: Policy) -> Result<()> {
    let environment = setup::ensure(policy)?;
    let path = build(&environment, ["--bin", "distill"])?;
    run_command(program(&path).args(&args.words))
}
