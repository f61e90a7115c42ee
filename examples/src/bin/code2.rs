//! `cargo xtask reproduce code2`: the names of Python functions.

use anyhow::Result;
use clap::Parser;
use pace_examples::code2;

/// Burn allocates a tensor per operation; mimalloc gives the memory of the last step to the next.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<()> {
    let args = code2::Args::parse();
    args.run.thread_pool().build_global()?;
    code2::run(&args)
}
