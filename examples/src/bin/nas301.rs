//! `cargo xtask reproduce nas301`: pre-training and search on NAS-Bench-301.

use anyhow::Result;
use clap::Parser;
use pace_examples::nas301;

/// Burn allocates a tensor per operation; mimalloc gives the memory of the last step to the next.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<()> {
    let args = nas301::Args::parse();
    args.run.thread_pool().build_global()?;
    nas301::run(&args)
}
