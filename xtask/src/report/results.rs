//! [`Results`]: what a page needs of `results.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// The `format` of `results.json` that this version reads.
const FORMAT: u32 = 2;

/// What tells results of different versions apart. The first version did not say.
#[derive(Debug, Deserialize)]
struct Version {
    #[serde(default)]
    format: u32,
}

/// What a page needs of `results.json`.
#[derive(Debug, Deserialize)]
pub struct Results {
    pub title: String,
    pub dataset: String,
    pub encoder: String,
    pub data: String,
    pub data_note: String,
    pub commit: Option<String>,
    /// Whether the code held changes that are in no commit; older results do not say.
    pub dirty: Option<bool>,
    pub seed: u64,
    pub threads: usize,
    pub stages: Vec<Stage>,
    pub table: Vec<MetricSpec>,
    pub metrics: BTreeMap<String, Metric>,
}

/// A stage and what it took.
#[derive(Debug, Deserialize)]
pub struct Stage {
    pub kind: String,
    pub variant: Option<String>,
    pub seconds: f64,
}

/// What a number means.
#[derive(Debug, Deserialize)]
pub struct MetricSpec {
    pub id: String,
    pub title: String,
    pub unit: String,
    pub decimals: usize,
    pub better: String,
    pub paper: Option<Paper>,
}

/// A number of the paper.
#[derive(Debug, Deserialize)]
pub struct Paper {
    pub value: f64,
    pub source: String,
}

/// A number of ours.
#[derive(Debug, Deserialize)]
pub struct Metric {
    /// `null` in JSON if it is not a number.
    pub mean: Option<f64>,
    pub std: Option<f64>,
    pub n: usize,
}

impl Results {
    /// Errs if another version of the programs wrote it.
    pub fn parse(text: &str) -> Result<Results> {
        let Version { format } = serde_json::from_str(text)?;
        if format != FORMAT {
            bail!(
                "it was written by another version of the programs (format {format}, this one reads {FORMAT}); run \
                 `cargo xtask reproduce` again"
            );
        }
        Ok(serde_json::from_str(text)?)
    }

    /// Of the file in the folder of a run.
    pub fn read(run: &Path) -> Result<Results> {
        let path = run.join("results.json");
        let text = fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}; finish the run first", path.display()))?;
        Results::parse(&text).with_context(|| format!("cannot make a page of {}", path.display()))
    }

    /// What all stages took.
    pub fn seconds(&self) -> f64 {
        self.stages.iter().map(|stage| stage.seconds).sum()
    }
}
