//! `cargo xtask reproduce bn`: PACE-VAE on the Bayesian networks of BN.

use anyhow::Result;
use clap::Parser;
use pace_examples::bn;

/// Burn allocates a tensor per operation; mimalloc gives the memory of the last step to the next.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<()> {
    let args = bn::Args::parse();
    args.run.thread_pool().build_global()?;
    bn::run(&args)
}
