//! Stages of a [`Run`]: timed, logged, and done once even if the run is killed in between.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rayon::prelude::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Run, Stage, Timing, keep};
use crate::Error;

/// The outcome of a stage, as a file keeps it.
#[derive(Serialize, Deserialize)]
struct Kept<T> {
    seconds: f64,
    outcome: T,
}

impl<T: Serialize + DeserializeOwned> Kept<T> {
    /// `None` if there is no such file, or if it does not parse, as one of another version of the program.
    fn read(path: &Path) -> Option<Self> {
        fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok())
    }

    fn write(&self, path: &Path) -> Result<(), Error> {
        keep(path, &serde_json::to_vec(self).expect("plain data"))
    }

    /// What is kept at `path`, or else what comes of the work, which is then kept; and whether it was there before.
    fn get<E: From<Error>>(path: &Path, work: impl FnOnce() -> Result<T, E>) -> Result<(Self, bool), E> {
        if let Some(kept) = Kept::read(path) {
            return Ok((kept, true));
        }
        let start = Instant::now();
        let outcome = work()?;
        let kept = Kept { seconds: start.elapsed().as_secs_f64(), outcome };
        kept.write(path)?;
        Ok((kept, false))
    }
}

impl Run {
    /// Runs one stage, measures its time and logs it.
    ///
    /// # Errors
    /// The stage's own, or if the log cannot be written.
    pub fn stage<T, E: From<Error>>(
        &mut self,
        stage: &Stage,
        work: impl FnOnce(&mut Run) -> Result<T, E>,
    ) -> Result<T, E> {
        let start = Instant::now();
        let outcome = work(self)?;
        self.end_stage(stage, start.elapsed().as_secs_f64(), false)?;
        Ok(outcome)
    }

    /// Runs one stage. If this run did it before it was killed, reads its outcome instead.
    ///
    /// # Errors
    /// The stage's own, or if a file cannot be written.
    pub fn once<T, E>(&mut self, stage: &Stage, work: impl FnOnce(&mut Run) -> Result<T, E>) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<Error>,
    {
        let path = self.stage_path(stage)?;
        let (kept, before) = Kept::get(&path, || work(self))?;
        self.end_stage(stage, kept.seconds, before)?;
        Ok(kept.outcome)
    }

    /// [`once`](Run::once) for stages that do not need each other. They run in parallel, and each outcome is kept as soon as
    /// it is there. `work` gets the index of a stage among `stages`; the outcomes are in that order.
    ///
    /// The seconds of the stages add up to the wall-clock time of all.
    ///
    /// # Errors
    /// One of the stages' own, or if a file cannot be written.
    pub fn each<T, E>(&mut self, stages: &[Stage], work: impl Fn(usize) -> Result<T, E> + Sync) -> Result<Vec<T>, E>
    where
        T: Serialize + DeserializeOwned + Send,
        E: From<Error> + Send,
    {
        let paths = stages.iter().map(|stage| self.stage_path(stage)).collect::<Result<Vec<_>, Error>>()?;
        let all = Instant::now();
        let one = |(index, path): (usize, &PathBuf)| Kept::get(path, || work(index));
        let done = paths.par_iter().enumerate().map(one).collect::<Result<Vec<_>, E>>()?;
        let own: f64 = done.iter().filter(|(_, before)| !before).map(|(kept, _)| kept.seconds).sum();
        let share = if own > 0.0 { all.elapsed().as_secs_f64() / own } else { 1.0 };
        let mut outcomes = Vec::with_capacity(done.len());
        for (stage, (kept, before)) in stages.iter().zip(done) {
            self.end_stage(stage, if before { kept.seconds } else { kept.seconds * share }, before)?;
            outcomes.push(kept.outcome);
        }
        Ok(outcomes)
    }

    /// Where the outcome of a stage is kept.
    fn stage_path(&self, stage: &Stage) -> Result<PathBuf, Error> {
        let dir = self.dir.join("stages");
        fs::create_dir_all(&dir).map_err(Error::io("make", &dir))?;
        Ok(dir.join(format!("{stage}.json")))
    }

    /// Logs a stage that measures its own time, because earlier processes worked on it too.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub fn took(&mut self, stage: &Stage, seconds: f64) -> Result<(), Error> {
        self.end_stage(stage, seconds, false)
    }

    fn end_stage(&mut self, stage: &Stage, seconds: f64, kept: bool) -> Result<(), Error> {
        self.results.stages.retain(|timing| timing.stage != *stage);
        self.results.stages.push(Timing { stage: stage.clone(), seconds });
        self.event(json!({"stage": stage.to_string(), "seconds": seconds, "kept": kept}))
    }

    /// Seconds the stage took, 0 if it has not run.
    pub fn seconds(&self, stage: &Stage) -> f64 {
        self.stages().iter().find(|timing| timing.stage == *stage).map_or(0.0, |timing| timing.seconds)
    }

    /// The stages so far, in the order they ended.
    pub fn stages(&self) -> &[Timing] {
        &self.results.stages
    }
}
