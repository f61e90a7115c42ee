//! Fuzz targets for everything that reads what others wrote: datasets, graphs and vectors in other formats, Python, graphs as text, configurations, results, weights,
//! checkpoints, journals.
//!
//! `cargo xtask ci fuzz` builds the programs `readers` and `model` with libFuzzer's instrumentation and runs each [`Target`]
//! for its share of the executions. A target reads its input and, if that succeeds, checks a law: what was read is valid, and
//! what is written is read back equal. A failure is a panic.
//!
//! The program is told what to do by the variable `PACE_FUZZ`: `list` prints the targets, `seeds` writes valid inputs of
//! the target in `PACE_FUZZ_TARGET` into the folder `PACE_FUZZ_SEEDS`, anything else fuzzes that target. Seeds come from our
//! own writers, so that no dataset is needed.

use std::path::PathBuf;
use std::sync::OnceLock;

mod choose;
pub mod formats;
pub mod graph;
mod law;
#[cfg(feature = "model")]
pub mod model;
mod mutation;
pub mod search;
pub mod seed;
pub mod target;

pub use choose::{mutate, run, start};
pub use target::Target;

/// The file name that readers are given. Every message about bad input must name it.
pub const FILE: &str = "my.file";

/// A folder for targets that cannot read from memory: `PACE_FUZZ_DIR`, which should be held in memory.
pub fn scratch() -> &'static PathBuf {
    static SCRATCH: OnceLock<PathBuf> = OnceLock::new();
    SCRATCH.get_or_init(|| {
        let root = std::env::var_os("PACE_FUZZ_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
        let dir = root.join(format!("pace-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("the scratch folder can be made");
        dir
    })
}
