//! [`RunId`]: what makes two runs the same.

use std::process::Command;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What identifies a run. A folder that holds another run is not written to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunId {
    /// The dataset, e.g. `na`.
    pub dataset: String,
    /// The encoder, e.g. `pace`.
    pub encoder: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Worker threads: sums of floats depend on them.
    pub threads: usize,
    /// All settings.
    pub config: Value,
    /// The last commit that changed code, if git knows it: a run does not resume with outcomes of other code.
    pub commit: Option<String>,
}

impl RunId {
    /// A run of this working tree.
    pub fn new(dataset: &str, encoder: &str, seed: u64, threads: usize, config: Value) -> RunId {
        let (dataset, encoder) = (dataset.to_owned(), encoder.to_owned());
        RunId { dataset, encoder, seed, threads, config, commit: commit() }
    }
}

/// The last commit of the working tree that changed code; `None` without git. A commit that only changes documentation does
/// not keep a run from resuming.
fn commit() -> Option<String> {
    const CODE: [&str; 4] = [":/*.rs", ":/*.toml", ":/*.lock", ":/*.bin"];
    let output = Command::new("git").args(["log", "-1", "--format=%H", "--"]).args(CODE).output().ok()?;
    let commit = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !commit.is_empty()).then_some(commit)
}
