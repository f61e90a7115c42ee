//! [`Study`]: what a search is about, for those who answer its queries.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use pace_graph::DagSpec;
use pace_graph::disk::write_whole;
use serde::{Deserialize, Serialize};

/// What a worker must know, in `study.json` beside the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// What the graphs look like.
    pub spec: DagSpec,
    /// Queries in all.
    pub queries: usize,
}

const FILE: &str = "study.json";

impl Study {
    /// Reads the study of a folder.
    ///
    /// # Errors
    /// If there is none.
    pub fn read(dir: &Path) -> Result<Study> {
        let path = dir.join(FILE);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("{} is not the folder of a search that has begun", dir.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is damaged; start the search again", path.display()))
    }

    /// Writes it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(FILE);
        write_whole(&path, serde_json::to_string_pretty(self)?.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// The journal of the search.
    pub fn journal(dir: &Path) -> PathBuf {
        dir.join("journal.jsonl")
    }
}
