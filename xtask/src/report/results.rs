//! [`Results`]: what a page needs of `results.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// The `format` of `results.json` that this version reads.
const FORMAT: u32 = 2;

/// The end of the name of a page with several encoders.
pub const ENCODERS: &str = "-encoders";

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
    /// The rows of a table of several encoders; none if there is one.
    #[serde(default)]
    pub encoders: BTreeMap<String, EncoderRow>,
}

/// A row of a table of several encoders.
#[derive(Debug, Deserialize)]
pub struct EncoderRow {
    pub title: String,
    /// Its place in the table.
    pub place: usize,
    /// How many encoders with different seeds.
    pub encoders: usize,
    /// What they took; `null` for a control.
    pub seconds: Option<f64>,
    pub metrics: BTreeMap<String, Cell>,
}

/// A number of a row, and the paper's.
#[derive(Debug, Deserialize)]
pub struct Cell {
    pub mean: Option<f64>,
    pub std: Option<f64>,
    pub n: usize,
    pub paper: Option<f64>,
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

    /// What all stages took, or all rows of a table.
    pub fn seconds(&self) -> f64 {
        let rows = self.encoders.values().filter_map(|row| row.seconds);
        self.stages.iter().map(|stage| stage.seconds).chain(rows).sum()
    }

    /// The name of the page: the dataset, with `-encoders` for a table of several.
    pub fn page(&self) -> String {
        format!("{}{}", self.dataset, if self.encoders.is_empty() { "" } else { ENCODERS })
    }
}
