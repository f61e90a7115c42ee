//! What can go wrong in this crate.

use std::path::{Path, PathBuf};

use pace_graph::disk::Busy;

/// Errors of pace-train; every message says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing to train on.
    #[error("the dataset is empty: there is nothing to train on")]
    EmptyDataset,
    /// The loss is no longer a number.
    #[error(
        "the loss became {loss} in epoch {epoch}, step {step} (learning rate {lr}): lower the learning rate, clip the \
         gradients, or look for bad targets; the last checkpoint is from before"
    )]
    Diverged {
        /// What the loss was.
        loss: f64,
        /// Epoch, from 1.
        epoch: usize,
        /// Step of all steps, from 1.
        step: usize,
        /// Learning rate of that step.
        lr: f64,
    },
    /// Whoever watched the training ended it.
    #[error(
        "the training was stopped after step {step} of {n_steps}; started again with the same settings, it resumes from its checkpoint, if it has one"
    )]
    Stopped {
        /// Steps that are done.
        step: usize,
        /// Steps of the whole training.
        n_steps: usize,
    },
    /// A setting out of range.
    #[error("{name} is {value}, but must be {bound}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        bound: &'static str,
    },
    /// The checkpoint is of another run.
    #[error("{path} holds a checkpoint of another run ({difference}): delete the folder or choose another")]
    OtherRun {
        /// The checkpoint.
        path: PathBuf,
        /// What differs.
        difference: String,
    },
    /// The checkpoint cannot be used.
    #[error("the checkpoint is damaged, {path}: {reason}; restore the file from a copy, or delete {dir} to start anew")]
    DamagedCheckpoint {
        /// The damaged file.
        path: PathBuf,
        /// The folder of the checkpoint.
        dir: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Another process writes there.
    #[error("{path} is in use by {holder}: wait until it has ended, or choose another folder")]
    Busy {
        /// The folder.
        path: PathBuf,
        /// The other process.
        holder: Busy,
    },
    /// A file or folder cannot be read or written.
    #[error("cannot {verb} {path}: {source}; check the path, the permissions and the free space, then run it again")]
    Io {
        /// What was tried.
        verb: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

impl Error {
    /// Names the first line in which two descriptions of runs differ.
    pub(crate) fn other_run(path: &Path, found: &str, expected: &str) -> Error {
        let differing = found.lines().zip(expected.lines()).find(|(one, other)| one != other);
        let say = |(found, expected): (&str, &str)| format!("it says {}, this run {}", found.trim(), expected.trim());
        Error::OtherRun { path: path.to_owned(), difference: differing.map(say).unwrap_or_default() }
    }

    /// Adds what was tried on which file.
    pub(crate) fn io(verb: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.into();
        move |source| Error::Io { verb, path, source }
    }
}
