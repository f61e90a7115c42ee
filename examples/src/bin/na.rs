//! `cargo xtask reproduce na`: PACE-VAE on the architectures of NA.

use anyhow::Result;
use clap::Parser;
use pace_examples::na;

/// Burn allocates a tensor per operation; mimalloc gives the memory of the last step to the next.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<()> {
    let args = na::Args::parse();
    args.run.thread_pool().build_global()?;
    na::run(&args)
}
