//! What programs, tests and benches know about the checkout they were built from: [`data_dir`] says where its datasets
//! lie, [`cpu_seconds`] what a process has cost so far.
//!
//! The library crates know neither folders nor environment variables; they depend on this crate only in their tests and
//! benches, which do not ship.

mod data;
mod process;

pub use data::{data_dir, data_with, say_skipped};
pub use process::cpu_seconds;

use std::path::Path;

/// The root of the workspace.
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here)
}
