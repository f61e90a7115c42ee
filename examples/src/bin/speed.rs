//! `cargo xtask bench encoders`: how fast PACE, D-VAE and DAGNN are (Figure 4 of the paper).

use anyhow::Result;
use clap::Parser;
use pace_examples::speed;

/// Burn allocates a tensor per operation; mimalloc gives the memory of the last step to the next.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<()> {
    let args = speed::Args::parse();
    args.run.thread_pool().build_global()?;
    speed::run(&args)
}
