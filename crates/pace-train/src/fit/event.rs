//! [`Event`]: what happens during a fit.

use serde::{Deserialize, Serialize};

use crate::Error;

/// One pass over the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Mean loss per graph (or labelled position).
    pub loss: f64,
    /// Learning rate of the last step.
    pub lr: f64,
}

/// What happens during a fit, for progress bars and logs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The last checkpoint is damaged; training resumes from the one before, to the same end.
    FellBack {
        /// What is wrong with the last one.
        damage: &'a Error,
    },
    /// Training starts, or resumes from a checkpoint.
    Start {
        /// Steps already done.
        step: usize,
        /// Steps in all.
        n_steps: usize,
        /// Graphs per step.
        graphs_per_step: usize,
    },
    /// Some steps were done.
    Steps {
        /// Steps done in all.
        step: usize,
        /// Graphs of the steps since the last such event.
        graphs: usize,
        /// Mean loss of the epoch so far.
        loss: f64,
        /// Seconds of training in all, those before a resumption included.
        seconds: f64,
    },
    /// An epoch ended.
    Epoch {
        /// Its number, from 1.
        epoch: usize,
        /// Its loss and learning rate.
        outcome: &'a Epoch,
        /// Wall-clock seconds that this process spent on it.
        seconds: f64,
    },
    /// A checkpoint was written.
    Saved {
        /// After this many steps.
        step: usize,
    },
}
