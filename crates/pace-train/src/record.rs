//! [`Run`]: the folder a reproduction writes: `config.json`, `events.jsonl`, `stages/`, `results.json`.
//!
//! A run is a list of stages. A stage whose outcome is small data is done [`once`](Run::once): its outcome is kept, so that
//! a run that was killed goes on with the stage it was in, and ends with the same numbers.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use pace_graph::mean_std;
use rayon::prelude::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Error;

/// Whether a number was measured on the published data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataKind {
    /// The published files.
    Real,
    /// What the program makes by itself; the note says how.
    Embedded,
}

/// One number of the results, with its spread and the paper's number beside it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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

    /// Mean and spread of repetitions.
    ///
    /// # Panics
    /// If there are none.
    pub fn over(values: &[f64]) -> Metric {
        assert!(!values.is_empty(), "a mean of nothing");
        let (mean, std) = mean_std(values.iter().copied());
        Metric { mean, std, n: values.len(), paper: None }
    }

    /// The same with the paper's number beside it.
    pub fn paper(self, paper: f64) -> Metric {
        Metric { paper: Some(paper), ..self }
    }
}

/// What identifies a run: a folder that holds another is not written to.
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
    /// The last commit that changed code, as far as git knows; outcomes of other code are not gone on with.
    pub commit: Option<String>,
}

impl RunId {
    /// A run of this working tree.
    pub fn new(dataset: &str, encoder: &str, seed: u64, threads: usize, config: Value) -> RunId {
        let (dataset, encoder) = (dataset.to_owned(), encoder.to_owned());
        RunId { dataset, encoder, seed, threads, config, commit: commit() }
    }
}

/// A run in progress. Every file is written whole and then renamed, so a killed run leaves no half file.
#[derive(Debug)]
pub struct Run {
    dir: PathBuf,
    events: File,
    resumed: bool,
    results: Results,
}

#[derive(Debug, Serialize)]
struct Results {
    #[serde(flatten)]
    id: RunId,
    data: DataKind,
    data_note: String,
    seconds: BTreeMap<String, f64>,
    metrics: BTreeMap<String, Metric>,
}

/// The outcome of a stage, kept.
#[derive(Serialize, Deserialize)]
struct Kept<T> {
    seconds: f64,
    outcome: T,
}

impl<T: Serialize + DeserializeOwned> Kept<T> {
    /// Nothing if there is none; a file of another version of the program does not parse and is made anew.
    fn read(path: &Path) -> Option<Self> {
        fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok())
    }

    fn write(&self, path: &Path) -> Result<(), Error> {
        write_whole(path, &serde_json::to_vec(self).expect("plain data"))
    }
}

impl Run {
    /// Makes the folder and writes `config.json`, or goes on with the run that is there.
    ///
    /// # Errors
    /// If the folder cannot be written, or holds another run.
    pub fn start(dir: &Path, id: RunId) -> Result<Run, Error> {
        fs::create_dir_all(dir).map_err(Error::io("make", dir))?;
        let config = dir.join("config.json");
        let text = serde_json::to_string_pretty(&id).expect("plain data");
        let resumed = match fs::read_to_string(&config) {
            Ok(found) if found == text => true,
            Ok(found) => {
                let differing = found.lines().zip(text.lines()).find(|(one, other)| one != other);
                let (found, expected) = differing.unwrap_or_default();
                let difference = format!("it says {}, this run {}", found.trim(), expected.trim());
                return Err(Error::OtherRun { path: dir.to_owned(), difference });
            }
            Err(_) => false,
        };
        write_whole(&config, text.as_bytes())?;
        let path = dir.join("events.jsonl");
        let events = OpenOptions::new().create(true).append(true).open(&path).map_err(Error::io("write", path))?;
        let (seconds, metrics) = Default::default();
        let results = Results { id, data: DataKind::Embedded, data_note: String::new(), seconds, metrics };
        let mut run = Run { dir: dir.to_owned(), events, resumed, results };
        run.event(json!({"start": if resumed { "again" } else { "anew" }}))?;
        Ok(run)
    }

    /// Whether the folder held a part of this run already.
    pub fn resumed(&self) -> bool {
        self.resumed
    }

    /// A file of this run.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Says where the data came from.
    pub fn data(&mut self, kind: DataKind, note: impl Into<String>) {
        self.results.data = kind;
        self.results.data_note = note.into();
    }

    /// Where the data came from, in plain words.
    pub fn data_note(&self) -> &str {
        &self.results.data_note
    }

    /// Runs one stage under the clock and logs it.
    ///
    /// # Errors
    /// The stage's own, or if the log cannot be written.
    pub fn stage<T, E: From<Error>>(
        &mut self,
        name: &str,
        work: impl FnOnce(&mut Run) -> Result<T, E>,
    ) -> Result<T, E> {
        let start = Instant::now();
        let outcome = work(self)?;
        self.end_stage(name, start.elapsed().as_secs_f64(), false)?;
        Ok(outcome)
    }

    /// Runs one stage, unless this run has done it before it was killed: then its outcome is read back.
    ///
    /// # Errors
    /// The stage's own, or if a file cannot be written.
    pub fn once<T, E>(&mut self, name: &str, work: impl FnOnce(&mut Run) -> Result<T, E>) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<Error>,
    {
        let path = self.stage_path(name)?;
        if let Some(kept) = Kept::read(&path) {
            self.end_stage(name, kept.seconds, true)?;
            return Ok(kept.outcome);
        }
        let start = Instant::now();
        let outcome = work(self)?;
        let kept = Kept { seconds: start.elapsed().as_secs_f64(), outcome };
        kept.write(&path)?;
        self.end_stage(name, kept.seconds, false)?;
        Ok(kept.outcome)
    }

    /// [`once`](Run::once) for stages that do not need each other: those that are not done run in parallel, and each is kept
    /// as soon as it is done. `work` gets the place of a stage among `names`; the outcomes come in their order.
    ///
    /// The seconds of the stages add up to those that all took together.
    ///
    /// # Errors
    /// One of the stages' own, or if a file cannot be written.
    pub fn each<T, E>(&mut self, names: &[String], work: impl Fn(usize) -> Result<T, E> + Sync) -> Result<Vec<T>, E>
    where
        T: Serialize + DeserializeOwned + Send,
        E: From<Error> + Send,
    {
        let paths = names.iter().map(|name| self.stage_path(name)).collect::<Result<Vec<_>, Error>>()?;
        let all = Instant::now();
        let stage = |(index, path): (usize, &PathBuf)| -> Result<(Kept<T>, bool), E> {
            if let Some(kept) = Kept::read(path) {
                return Ok((kept, true));
            }
            let start = Instant::now();
            let outcome = work(index)?;
            let kept = Kept { seconds: start.elapsed().as_secs_f64(), outcome };
            kept.write(path)?;
            Ok((kept, false))
        };
        let done = paths.par_iter().enumerate().map(stage).collect::<Result<Vec<_>, E>>()?;
        let own: f64 = done.iter().filter(|(_, before)| !before).map(|(kept, _)| kept.seconds).sum();
        let share = if own > 0.0 { all.elapsed().as_secs_f64() / own } else { 1.0 };
        let mut outcomes = Vec::with_capacity(done.len());
        for (name, (kept, before)) in names.iter().zip(done) {
            self.end_stage(name, if before { kept.seconds } else { kept.seconds * share }, before)?;
            outcomes.push(kept.outcome);
        }
        Ok(outcomes)
    }

    /// Where the outcome of a stage is kept.
    fn stage_path(&self, name: &str) -> Result<PathBuf, Error> {
        let dir = self.dir.join("stages");
        fs::create_dir_all(&dir).map_err(Error::io("make", &dir))?;
        Ok(dir.join(format!("{name}.json")))
    }

    /// Notes a stage that keeps its own clock, because processes before this one worked on it too.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub fn took(&mut self, stage: &str, seconds: f64) -> Result<(), Error> {
        self.end_stage(stage, seconds, false)
    }

    fn end_stage(&mut self, name: &str, seconds: f64, kept: bool) -> Result<(), Error> {
        self.results.seconds.insert(name.to_owned(), seconds);
        self.event(json!({"stage": name, "seconds": seconds, "kept": kept}))
    }

    /// Seconds the stage took, 0 if it has not run.
    pub fn seconds(&self, stage: &str) -> f64 {
        self.results.seconds.get(stage).copied().unwrap_or(0.0)
    }

    /// Seconds of all stages by name.
    pub fn stages(&self) -> &BTreeMap<String, f64> {
        &self.results.seconds
    }

    /// Records a number.
    pub fn metric(&mut self, name: &str, metric: Metric) {
        self.results.metrics.insert(name.to_owned(), metric);
    }

    /// All numbers by name.
    pub fn metrics(&self) -> &BTreeMap<String, Metric> {
        &self.results.metrics
    }

    /// Appends a line to `events.jsonl`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn event(&mut self, event: Value) -> Result<(), Error> {
        writeln!(self.events, "{event}").map_err(Error::io("write", self.dir.join("events.jsonl")))
    }

    /// Writes a file of this run.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
        let path = self.dir.join(name);
        write_whole(&path, bytes)?;
        Ok(path)
    }

    /// Writes `results.json`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(self) -> Result<(), Error> {
        let results = serde_json::to_vec_pretty(&self.results).expect("plain data");
        write_whole(&self.dir.join("results.json"), &results)
    }
}

/// Writes beside the target, then renames over it.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let part = path.with_extension("part");
    fs::write(&part, bytes).and_then(|()| fs::rename(&part, path)).map_err(Error::io("write", path))
}

/// The last commit of the working tree that changed code, if this is one and git is there: a commit of documentation does
/// not stand in the way of a run that goes on.
fn commit() -> Option<String> {
    const CODE: [&str; 4] = [":/*.rs", ":/*.toml", ":/*.lock", ":/*.bin"];
    let output = Command::new("git").args(["log", "-1", "--format=%H", "--"]).args(CODE).output().ok()?;
    let commit = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !commit.is_empty()).then_some(commit)
}
