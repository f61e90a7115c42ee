//! [`Checkpoint`]: everything that a killed fit needs to resume and end with the same bits.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::optim::ModuleOptimizer;
use burn::tensor::{Bytes, Tensor};
use pace_graph::disk::{WriterLock, write_whole};
use pace_model::store::{load_safetensors, to_safetensors};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::fit::{Epoch, FitConfig, Spent};
use crate::schedule::ScheduleState;

/// The file that makes a checkpoint: it names the others. It is written last.
const STATE: &str = "state.json";
/// The same of the checkpoint before.
const PREVIOUS: &str = "previous.json";
/// Whose folder it is.
const LOCK: &str = "lock";

/// A folder with the weights, the optimiser's moments and the state of the loop.
///
/// `state.json` names the files of weights and moments, which have the number of the step in their names. They are on the disk
/// before `state.json` is renamed into place, so there is a whole checkpoint at every moment. The one before stays, as
/// `previous.json`, and serves if a file of the last one is damaged. One process at a time trains in the folder.
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
    /// Seconds of computing spent on them.
    #[serde(default)]
    pub cpu_seconds: f64,
}

impl State {
    /// What was spent so far.
    pub fn spent(&self) -> Spent {
        Spent { seconds: self.seconds, cpu_seconds: self.cpu_seconds }
    }

    /// Takes note of what was spent so far.
    pub fn spend(&mut self, spent: Spent) {
        (self.seconds, self.cpu_seconds) = (spent.seconds, spent.cpu_seconds);
    }
}

#[derive(Serialize, Deserialize)]
struct File {
    /// What the run was asked to do; another run must not resume from here.
    run: Run,
    state: State,
    /// The ids that tie the optimiser's moments to their parameters, in the order of the module.
    param_ids: Vec<u64>,
    weights: Part,
    optimiser: Part,
}

/// A file of a checkpoint. Its size tells whether it was cut short, its checksum whether a bit has changed: Burn's reader of
/// moments ends the process over some such bits, and starts others anew without a word.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Part {
    name: String,
    bytes: usize,
    crc32c: u32,
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

    /// Keeps other processes out of the folder as long as it lives.
    pub(crate) fn lock(&self) -> Result<WriterLock, Error> {
        fs::create_dir_all(&self.dir).map_err(Error::io("make", &self.dir))?;
        let lock = WriterLock::take(&self.dir.join(LOCK)).map_err(Error::io("lock", &self.dir))?;
        lock.map_err(|holder| Error::Busy { path: self.dir.clone(), holder })
    }

    pub(crate) fn save<M: Module>(
        &self,
        model: &M,
        optimiser: &ModuleOptimizer,
        state: &State,
        config: &FitConfig,
        n_graphs: usize,
    ) -> Result<(), Error> {
        let write = |name: String, bytes: &[u8]| {
            let path = self.dir.join(&name);
            write_whole(&path, bytes).map_err(Error::io("write", &path))?;
            Ok(Part { name, bytes: bytes.len(), crc32c: crc32c::crc32c(bytes) })
        };
        let step = state.step;
        let moments = optimiser.into_bytes().map_err(|error| self.damaged(&self.dir, error))?;
        let (state_path, previous) = (self.dir.join(STATE), self.dir.join(PREVIOUS));
        let file = File {
            run: self.run(config, n_graphs),
            state: state.clone(),
            param_ids: param_ids(model),
            weights: write(format!("weights-{step}.safetensors"), &to_safetensors(model))?,
            optimiser: write(format!("optimiser-{step}.bpk"), &moments)?,
        };
        let last = fs::read(&state_path).ok().filter(|bytes| parts(bytes).is_some_and(|last| last != parts_of(&file)));
        if let Some(last) = &last {
            write_whole(&previous, last).map_err(Error::io("write", &previous))?;
        }
        let bytes = serde_json::to_vec(&file).expect("plain data");
        write_whole(&state_path, &bytes).map_err(Error::io("write", &state_path))?;
        self.sweep()
    }

    /// Removes the files that no checkpoint names, e.g. those of the last but one.
    fn sweep(&self) -> Result<(), Error> {
        let named = [STATE, PREVIOUS].map(|name| fs::read(self.dir.join(name)).ok().and_then(|bytes| parts(&bytes)));
        let named: Vec<Part> = named.into_iter().flatten().flatten().collect();
        for entry in fs::read_dir(&self.dir).map_err(Error::io("read", &self.dir))? {
            let name = entry.map_err(Error::io("read", &self.dir))?.file_name();
            let name = name.to_string_lossy();
            let is_ours = name.starts_with("weights-") || name.starts_with("optimiser-");
            if is_ours && !named.iter().any(|part| part.name == name) {
                let path = self.dir.join(&*name);
                fs::remove_file(&path).map_err(Error::io("remove", path))?;
            }
        }
        Ok(())
    }

    /// The model, optimiser and state of the last checkpoint, of the one before if the last is damaged, or as given if there
    /// is none. Also says what was wrong with the last one.
    pub(crate) fn resume<M: Module>(&self, model: M, config: &FitConfig, n_graphs: usize) -> Result<Resumed<M>, Error> {
        let mut damage = None;
        for name in [STATE, PREVIOUS] {
            let path = self.dir.join(name);
            match fs::read(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("read", path)(error)),
                Ok(bytes) => match self.load(&path, &bytes, model.clone(), config, n_graphs) {
                    Ok((model, optimiser, state)) => {
                        if damage.is_some() {
                            // The last one again, so that the next save does not keep the damaged one instead.
                            let last = self.dir.join(STATE);
                            write_whole(&last, &bytes).map_err(Error::io("write", last))?;
                        }
                        return Ok(Resumed { model, optimiser, state, damage });
                    }
                    Err(error @ Error::DamagedCheckpoint { .. }) => damage = damage.or(Some(error)),
                    Err(error) => return Err(error),
                },
            }
        }
        if let Some(damage) = damage {
            return Err(damage);
        }
        Ok(Resumed::start(model, config))
    }

    fn load<M: Module>(
        &self,
        path: &Path,
        bytes: &[u8],
        model: M,
        config: &FitConfig,
        n_graphs: usize,
    ) -> Result<(M, ModuleOptimizer, State), Error> {
        let file: File = serde_json::from_slice(bytes).map_err(|error| self.damaged(path, error))?;
        let run = self.run(config, n_graphs);
        if file.run != run {
            let text = |run: &Run| serde_json::to_string_pretty(run).expect("plain data");
            return Err(Error::other_run(&self.dir, &text(&file.run), &text(&run)));
        }
        let read = |part: &Part| {
            let path = self.dir.join(&part.name);
            let bytes = fs::read(&path).map_err(|error| self.damaged(&path, error))?;
            match bytes.len() == part.bytes {
                false => Err(self.damaged(&path, format!("it has {} of {} bytes", bytes.len(), part.bytes))),
                true if crc32c::crc32c(&bytes) != part.crc32c => Err(self.damaged(&path, "its checksum is wrong")),
                true => Ok((path, bytes)),
            }
        };
        let (weights_path, weights) = read(&file.weights)?;
        let (optimiser_path, moments) = read(&file.optimiser)?;
        let model = load_safetensors(model, &weights).map_err(|error| self.damaged(&weights_path, error))?;
        let model = adopt(model, file.param_ids);
        // It knows the biases by their ids, so it is made for the ids of the checkpoint.
        let optimiser = config.optimiser.init(&model).from_bytes(Bytes::from_bytes_vec(moments));
        let optimiser = optimiser.map_err(|error| self.damaged(&optimiser_path, error))?;
        Ok((model, optimiser, file.state))
    }

    fn damaged(&self, path: &Path, reason: impl std::fmt::Display) -> Error {
        Error::DamagedCheckpoint { path: path.to_owned(), dir: self.dir.clone(), reason: reason.to_string() }
    }
}

/// Where a fit starts.
pub(crate) struct Resumed<M> {
    pub model: M,
    pub optimiser: ModuleOptimizer,
    pub state: State,
    /// Why the last checkpoint did not serve, if the one before does.
    pub damage: Option<Error>,
}

impl<M: Module> Resumed<M> {
    /// The first step.
    pub fn start(model: M, config: &FitConfig) -> Resumed<M> {
        let optimiser = config.optimiser.init(&model);
        Resumed { model, optimiser, state: State::default(), damage: None }
    }
}

/// The files that a checkpoint names, if it can be read.
fn parts(bytes: &[u8]) -> Option<[Part; 2]> {
    serde_json::from_slice::<File>(bytes).ok().map(|file| parts_of(&file))
}

fn parts_of(file: &File) -> [Part; 2] {
    [file.weights.clone(), file.optimiser.clone()]
}

/// The ids of all parameters, in the order of the module.
pub(crate) fn param_ids<M: Module>(model: &M) -> Vec<u64> {
    let mut ids = Ids::default();
    model.visit(&mut ids);
    ids.0
}

/// Gives the parameters the ids they had: a new module has new ones, and the optimiser would not know it.
pub(crate) fn adopt<M: Module>(model: M, ids: Vec<u64>) -> M {
    model.map(&mut Adopt { ids: ids.into_iter() })
}

#[derive(Default)]
struct Ids(Vec<u64>);

impl ModuleVisitor for Ids {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.0.push(param.id.val());
    }
}

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
