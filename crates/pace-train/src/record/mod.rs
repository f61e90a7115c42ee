//! [`Run`]: the folder that an experiment writes: `config.json`, `events.jsonl`, `stages/`, `results.json`.
//!
//! A run is a list of [`Stage`]s. A stage with a small outcome is done [`once`](Run::once): its outcome is kept in a file, so
//! that a run that was killed resumes with the stage it was in and ends with the same numbers.
//!
//! `results.json` holds the [`MetricSpec`] of every number in `table`, in the order of the report, and the numbers by their
//! ids in `metrics`. Scripts that know only a number's id find the paper's beside it, and the seconds of each stage by its name
//! in `seconds`.
//!
//! ```
//! use pace_train::Error;
//! use pace_train::record::{Metric, MetricSpec, Run, RunId, Stage};
//! # let dir = std::env::temp_dir().join(format!("pace-record-{}", std::process::id()));
//! let mut run = Run::start(&dir, RunId::new("na", "pace", 1, 2, serde_json::json!({"epochs": 3})))?;
//! let gp = Stage::new("gp").seed(1);
//! let rmse: f64 = run.once(&gp, |_| Ok::<_, Error>(0.25))?; // after a kill: read from stages/gp-1.json
//! run.metric(&MetricSpec::new("rmse", "RMSE of the GP").lower(), Metric::once(rmse));
//! run.finish("NA: architectures")?;
//! assert!(dir.join("results.json").exists());
//! # std::fs::remove_dir_all(&dir).unwrap();
//! # Ok::<(), Error>(())
//! ```

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use pace_graph::disk::{WriterLock, stream_whole, write_whole};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Error;

mod metric;
mod run_id;
mod stage;
mod stages;
mod training;

pub use metric::{Better, Metric, MetricSpec, Paper};
pub use run_id::RunId;
pub use stage::{Stage, Timing};
pub use training::{Trained, Training};

/// The version of `results.json`, for its readers.
const FORMAT: u32 = 2;

/// Whether numbers were measured on the published data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataKind {
    /// The published files.
    Real,
    /// A stand-in that the program makes; the note says how.
    Embedded,
}

/// The file that says which process writes the folder.
const LOCK: &str = "lock";

/// A run in progress. Every file is written whole, synced and then renamed, so a crash leaves no half file. Other processes are
/// kept out of the folder as long as this lives.
#[derive(Debug)]
pub struct Run {
    dir: PathBuf,
    _lock: WriterLock,
    events: File,
    resumed: bool,
    results: Results,
}

#[derive(Debug, Serialize)]
struct Results {
    format: u32,
    title: String,
    #[serde(flatten)]
    id: RunId,
    data: DataKind,
    data_note: String,
    stages: Vec<Timing>,
    table: Vec<MetricSpec>,
    metrics: BTreeMap<String, Metric>,
    /// The rows of a table of several encoders.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    encoders: BTreeMap<String, Value>,
}

impl Run {
    /// Deletes what the folder holds, to start anew. Nothing happens if there is no such folder.
    ///
    /// # Errors
    /// If another process writes there, or a file cannot be removed.
    pub fn clear(dir: &Path) -> Result<(), Error> {
        if !dir.exists() {
            return Ok(());
        }
        let _lock = lock(dir)?;
        for entry in fs::read_dir(dir).map_err(Error::io("read", dir))? {
            let path = entry.map_err(Error::io("read", dir))?.path();
            match path.is_dir() && !path.is_symlink() {
                _ if path.ends_with(LOCK) => Ok(()),
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            }
            .map_err(Error::io("remove", path))?;
        }
        Ok(())
    }

    /// Creates the folder and writes `config.json`, or resumes the run that is there.
    ///
    /// # Errors
    /// If the folder cannot be written, holds another run, or another process writes there.
    pub fn start(dir: &Path, id: RunId) -> Result<Run, Error> {
        fs::create_dir_all(dir).map_err(Error::io("make", dir))?;
        let lock = lock(dir)?;
        let config = dir.join("config.json");
        let found = fs::read_to_string(&config).ok();
        let id = match &found {
            Some(found) => id.resuming(found).map_err(|expected| Error::other_run(dir, found, &expected))?,
            None => id,
        };
        let resumed = found.is_some();
        keep(&config, id.to_text().as_bytes())?;
        let path = dir.join("events.jsonl");
        let events = open_log(&path).map_err(Error::io("write", path))?;
        let (title, data_note, stages, table, metrics, encoders) = Default::default();
        let data = DataKind::Embedded;
        let results = Results { format: FORMAT, title, id, data, data_note, stages, table, metrics, encoders };
        let mut run = Run { dir: dir.to_owned(), _lock: lock, events, resumed, results };
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

    /// Records a number. The table of results has its numbers in the order they are recorded.
    pub fn metric(&mut self, spec: &MetricSpec, metric: Metric) {
        if self.results.metrics.insert(spec.id.clone().into_owned(), metric).is_none() {
            self.results.table.push(spec.clone());
        }
    }

    /// Says what the numbers of a table of several encoders mean; the numbers are in its [rows](Run::encoder).
    pub fn columns(&mut self, columns: Vec<MetricSpec>) {
        self.results.table = columns;
    }

    /// Records a row of a table of several encoders: anything, under `encoders.<name>` of the results.
    pub fn encoder(&mut self, name: &str, row: Value) {
        self.results.encoders.insert(name.to_owned(), row);
    }

    /// The table of results: all numbers so far, in the order they were recorded.
    pub fn table(&self) -> impl Iterator<Item = (&MetricSpec, &Metric)> {
        self.results.table.iter().filter_map(|spec| Some((spec, self.results.metrics.get(&*spec.id)?)))
    }

    /// Appends a line to `events.jsonl`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn event(&mut self, event: Value) -> Result<(), Error> {
        // In one write, so that a kill leaves the whole line or none of it.
        let line = format!("{event}\n");
        self.events.write_all(line.as_bytes()).map_err(Error::io("write", self.dir.join("events.jsonl")))
    }

    /// Writes a file of this run.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
        let path = self.dir.join(name);
        keep(&path, bytes)?;
        Ok(path)
    }

    /// Writes a large file of this run piece by piece; under its name it appears whole.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn stream(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<PathBuf, Error> {
        let path = self.dir.join(name);
        stream_whole(&path, write).map_err(Error::io("write", &path))?;
        Ok(path)
    }

    /// Writes `results.json` under a title for people.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self, title: &str) -> Result<(), Error> {
        self.results.title = title.to_owned();
        let results = serde_json::to_vec_pretty(&self.results.for_scripts()).expect("plain data");
        keep(&self.dir.join("results.json"), &results)
    }
}

impl Results {
    /// The results, with what a script would otherwise have to look up in `table` and `stages`.
    fn for_scripts(&self) -> Value {
        let mut results = json!(self);
        for spec in self.table.iter().filter(|spec| self.metrics.contains_key(&*spec.id)) {
            results["metrics"][&*spec.id]["paper"] = json!(spec.paper.map(|paper| paper.value));
        }
        results["seconds"] = self.stages.iter().map(|timing| (timing.stage.to_string(), timing.seconds)).collect();
        results
    }
}

fn lock(dir: &Path) -> Result<WriterLock, Error> {
    let lock = WriterLock::take(&dir.join(LOCK)).map_err(Error::io("lock", dir))?;
    lock.map_err(|holder| Error::Busy { path: dir.to_owned(), holder })
}

/// Opens a file of lines to append to. A line that a full disk cut short is ended.
fn open_log(path: &Path) -> io::Result<File> {
    let torn = fs::read(path).is_ok_and(|bytes| bytes.last().is_some_and(|&last| last != b'\n'));
    let mut log = OpenOptions::new().create(true).append(true).open(path)?;
    if torn {
        log.write_all(b"\n")?;
    }
    Ok(log)
}

/// Writes a file whole, and syncs it.
fn keep(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_whole(path, bytes).map_err(Error::io("write", path))
}
