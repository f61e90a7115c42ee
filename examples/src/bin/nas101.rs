//! `cargo xtask reproduce nas101`: pre-training and search on NAS-Bench-101.

use anyhow::Result;
use clap::Parser;
use pace_examples::nas101;

/// Burn allocates a tensor per operation; mimalloc gives the memory of the last step to the next.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<()> {
    let args = nas101::Args::parse();
    args.run.thread_pool().build_global()?;
    nas101::run(&args)
}
