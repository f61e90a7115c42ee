//! [`Run`]: the folder a reproduction writes: `config.json`, `events.jsonl`, `results.json`, `report.html`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::{Value, json};

/// Whether a number was measured on the published data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DataKind {
    /// The published files.
    Real,
    /// What the program makes by itself; the note says how.
    Embedded,
}

/// One number of the results, with its spread and the paper's number beside it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Metric {
    /// Mean over the repetitions.
    pub mean: f64,
    /// Population standard deviation; 0 for one repetition.
    pub std: f64,
    /// Repetitions.
    pub n: usize,
    /// What the paper reports, if it does.
    pub paper: Option<f64>,
}

impl Metric {
    /// A number that was counted or measured once.
    pub fn once(value: f64) -> Metric {
        Metric { mean: value, std: 0.0, n: 1, paper: None }
    }
}

/// A run in progress. Every file is written whole and then renamed, so a killed run leaves no half file.
#[derive(Debug)]
pub struct Run {
    dir: PathBuf,
    events: File,
    results: Results,
}

#[derive(Debug, Serialize)]
struct Results {
    dataset: String,
    encoder: String,
    data: DataKind,
    data_note: String,
    commit: Option<String>,
    seed: u64,
    threads: usize,
    config: Value,
    seconds: BTreeMap<String, f64>,
    metrics: BTreeMap<String, Metric>,
}

impl Run {
    /// Makes the folder and writes `config.json`.
    pub fn start(dir: &Path, dataset: &str, encoder: &str, seed: u64, threads: usize, config: Value) -> Result<Run> {
        fs::create_dir_all(dir).with_context(|| format!("cannot make {}; choose another with --out", dir.display()))?;
        write_whole(&dir.join("config.json"), &serde_json::to_vec_pretty(&config)?)?;
        let events = File::create(dir.join("events.jsonl")).context("cannot write events.jsonl")?;
        let results = Results {
            dataset: dataset.to_owned(),
            encoder: encoder.to_owned(),
            data: DataKind::Embedded,
            data_note: String::new(),
            commit: commit(),
            seed,
            threads,
            config,
            seconds: BTreeMap::new(),
            metrics: BTreeMap::new(),
        };
        Ok(Run { dir: dir.to_owned(), events, results })
    }

    /// Says where the data came from.
    pub fn data(&mut self, kind: DataKind, note: impl Into<String>) {
        self.results.data = kind;
        self.results.data_note = note.into();
    }

    /// Runs one stage under the clock and logs it.
    pub fn stage<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let outcome = work().with_context(|| format!("stage '{name}' failed"))?;
        let seconds = start.elapsed().as_secs_f64();
        self.results.seconds.insert(name.to_owned(), seconds);
        self.event(json!({"stage": name, "seconds": seconds}))?;
        Ok(outcome)
    }

    /// Seconds the stage took, 0 if it has not run.
    pub fn seconds(&self, stage: &str) -> f64 {
        self.results.seconds.get(stage).copied().unwrap_or(0.0)
    }

    /// Records a number.
    pub fn metric(&mut self, name: &str, metric: Metric) {
        self.results.metrics.insert(name.to_owned(), metric);
    }

    /// Appends a line to `events.jsonl`.
    pub fn event(&mut self, event: Value) -> Result<()> {
        writeln!(self.events, "{event}").context("cannot write events.jsonl")
    }

    /// Writes `results.json` and `report.html`; returns the report's path.
    pub fn finish(self, report: &super::Report) -> Result<PathBuf> {
        write_whole(&self.dir.join("results.json"), &serde_json::to_vec_pretty(&self.results)?)?;
        let path = self.dir.join("report.html");
        write_whole(&path, report.html(&self.results.data_note).as_bytes())?;
        Ok(path)
    }
}

/// Writes beside the target, then renames over it.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let part = path.with_extension("part");
    fs::write(&part, bytes)
        .and_then(|()| fs::rename(&part, path))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// The commit of the working tree, if this is one and git is there.
fn commit() -> Option<String> {
    let output = Command::new("git").args(["rev-parse", "HEAD"]).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
