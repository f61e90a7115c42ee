//! [`Checkpoint`]: everything that a killed fit needs to resume and end with the same bits.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::optim::ModuleOptimizer;
use burn::tensor::{Bytes, Tensor};
use pace_model::store::{load_safetensors, to_safetensors};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::fit::{Epoch, FitConfig};
use crate::schedule::ScheduleState;

const WEIGHTS: &str = "weights.safetensors";
const OPTIMISER: &str = "optimiser.bpk";
const STATE: &str = "state.json";

/// A folder with the weights, the optimiser's moments and the state of the loop.
///
/// It is written under another name and then renamed, so that there is a whole checkpoint at every moment.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    dir: PathBuf,
    model: String,
    every: Duration,
}

/// How far the loop has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    /// Steps done.
    pub step: usize,
    /// Epochs done.
    pub epochs: Vec<Epoch>,
    /// Loss of the current epoch so far, summed.
    pub loss: f64,
    /// What that sum runs over.
    pub count: usize,
    /// What the schedule remembers.
    pub schedule: ScheduleState,
    /// Graphs trained on.
    pub graphs: usize,
    /// Wall-clock seconds spent on them.
    pub seconds: f64,
}

#[derive(Serialize, Deserialize)]
struct File {
    /// What the run was asked to do; another run must not resume from here.
    run: Run,
    state: State,
    /// The ids that tie the optimiser's moments to their parameters, in the order of the module.
    param_ids: Vec<u64>,
}

#[derive(PartialEq, Serialize, Deserialize)]
struct Run {
    model: String,
    config: FitConfig,
    n_graphs: usize,
}

impl Checkpoint {
    /// A checkpoint in the folder `dir`, which need not exist. `model` describes the model and its data, e.g. as JSON: a
    /// checkpoint that says something else is refused.
    pub fn new(dir: impl Into<PathBuf>, model: impl Into<String>) -> Checkpoint {
        Checkpoint { dir: dir.into(), model: model.into(), every: Duration::from_secs(20) }
    }

    /// How often it is written. When checkpoints are written does not change the outcome.
    pub fn every(self, every: Duration) -> Checkpoint {
        Checkpoint { every, ..self }
    }

    pub(crate) fn is_due(&self, last: Instant) -> bool {
        last.elapsed() >= self.every
    }

    fn run(&self, config: &FitConfig, n_graphs: usize) -> Run {
        Run { model: self.model.clone(), config: config.clone(), n_graphs }
    }

    /// The folder under another name, beside it.
    fn sibling(&self, suffix: &str) -> PathBuf {
        let mut name = self.dir.file_name().unwrap_or_default().to_owned();
        name.push(suffix);
        self.dir.with_file_name(name)
    }

    pub(crate) fn save<M: Module>(
        &self,
        model: &M,
        optimiser: &ModuleOptimizer,
        state: &State,
        config: &FitConfig,
        n_graphs: usize,
    ) -> Result<(), Error> {
        let (part, old) = (self.sibling(".part"), self.sibling(".old"));
        remove(&part)?;
        fs::create_dir_all(&part).map_err(Error::io("make", &part))?;
        let write = |name: &str, bytes: &[u8]| {
            let path = part.join(name);
            fs::write(&path, bytes).map_err(Error::io("write", &path))
        };
        let mut ids = Ids::default();
        model.visit(&mut ids);
        let file = File { run: self.run(config, n_graphs), state: state.clone(), param_ids: ids.0 };
        write(WEIGHTS, &to_safetensors(model))?;
        write(OPTIMISER, &optimiser.into_bytes().map_err(|error| self.damaged(&part, error))?)?;
        write(STATE, &serde_json::to_vec(&file).expect("plain data"))?;
        remove(&old)?;
        if self.dir.exists() {
            fs::rename(&self.dir, &old).map_err(Error::io("rename", &self.dir))?;
        }
        fs::rename(&part, &self.dir).map_err(Error::io("rename", &part))?;
        remove(&old)
    }

    /// The model, optimiser and state of the checkpoint; as given if there is none.
    pub(crate) fn resume<M: Module>(
        &self,
        model: M,
        config: &FitConfig,
        n_graphs: usize,
    ) -> Result<(M, ModuleOptimizer, State), Error> {
        // A process that was killed between the two renames leaves only the old one.
        let Some(dir) = [self.dir.clone(), self.sibling(".old")].into_iter().find(|dir| dir.join(STATE).exists())
        else {
            let optimiser = config.optimiser.init(&model);
            return Ok((model, optimiser, State::default()));
        };
        let read = |name: &str| {
            let path = dir.join(name);
            fs::read(&path).map_err(Error::io("read", path))
        };
        let file: File = serde_json::from_slice(&read(STATE)?).map_err(|error| self.damaged(&dir, error))?;
        let run = self.run(config, n_graphs);
        if file.run != run {
            let text = |run: &Run| serde_json::to_string_pretty(run).expect("plain data");
            return Err(Error::other_run(&dir, &text(&file.run), &text(&run)));
        }
        let model = load_safetensors(model, &read(WEIGHTS)?).map_err(|error| self.damaged(&dir, error))?;
        let mut adopt = Adopt { ids: file.param_ids.into_iter() };
        let model = model.map(&mut adopt);
        let bytes = Bytes::from_bytes_vec(read(OPTIMISER)?);
        // It knows the biases by their ids, so it is made for the ids of the checkpoint.
        let optimiser = config.optimiser.init(&model).from_bytes(bytes).map_err(|error| self.damaged(&dir, error))?;
        Ok((model, optimiser, file.state))
    }

    fn damaged(&self, dir: &Path, reason: impl std::fmt::Display) -> Error {
        Error::DamagedCheckpoint { path: dir.to_owned(), reason: reason.to_string() }
    }
}

fn remove(dir: &Path) -> Result<(), Error> {
    match dir.exists() {
        true => fs::remove_dir_all(dir).map_err(Error::io("remove", dir)),
        false => Ok(()),
    }
}

/// The ids of all parameters, in the order of the module.
#[derive(Default)]
struct Ids(Vec<u64>);

impl ModuleVisitor for Ids {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.0.push(param.id.val());
    }
}

/// Gives the parameters the ids they had: a new module has new ones, and the optimiser would not know it.
struct Adopt {
    ids: std::vec::IntoIter<u64>,
}

impl ModuleMapper for Adopt {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, tensor, mapper) = param.consume();
        let id = self.ids.next().map_or(id, ParamId::from);
        Param::from_mapped_value(id, tensor, mapper)
    }
}
