//! What the benches with a PyTorch peer share: its environment, and the line that both sides print.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::venv::Venv;

/// For all of them, so that the largest download of this repository is made once.
const PACKAGES: [&str; 4] = ["torch", "numpy", "igraph<1.0", "gpytorch"];

/// The environment below `folder`.
pub fn ensure(folder: &Path) -> Result<Venv> {
    Venv::ensure(&folder.join("torch"), &PACKAGES).context("the peer of this bench is written in PyTorch")
}

/// The last line of the output that is JSON; warnings may come before it.
pub fn last_json(text: &str) -> Result<Value> {
    let line = text.lines().rev().find(|line| line.starts_with('{')).context("the bench printed no result")?;
    serde_json::from_str(line).with_context(|| format!("the bench printed '{line}'"))
}
