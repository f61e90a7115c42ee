//! [`FitConfig`]: how to train.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::optimiser::OptimiserConfig;
use crate::schedule::Schedule;

/// How the losses of a batch become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reduction {
    /// The sum over the batch: the authors' VAE.
    Sum,
    /// The mean over graphs or labelled positions.
    Mean,
}

/// How to train.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitConfig {
    /// Seed of shuffling, dropout and noise. The initial weights have a seed of their own.
    pub seed: u64,
    /// Passes over the data.
    pub epochs: usize,
    /// Graphs per step; the last batch of an epoch may be smaller.
    pub batch_size: usize,
    /// Optimiser.
    pub optimiser: OptimiserConfig,
    /// Learning rate over time.
    pub schedule: Schedule,
    /// Largest norm of the gradient over all parameters together.
    pub clip: Option<f64>,
    /// Sum or mean.
    pub reduction: Reduction,
    /// Stop after this many steps, even inside an epoch: a budget that epochs are too coarse for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<usize>,
    /// Parts into which a batch is cut. Each draws its own noise, and their gradients are added by a fixed binary tree, so the
    /// outcome does not depend on how many processes share them; see [`fit_collective`](crate::fit_collective).
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub shards: usize,
    /// Stop when the epoch loss has not reached a new low for this many epochs.
    pub early_stop: Option<usize>,
}

impl FitConfig {
    /// The authors' training on NA: Adam at 1e-4, batches of 32, 100 epochs, the rate cut when the loss stops falling.
    pub fn vae() -> FitConfig {
        FitConfig {
            seed: 1,
            epochs: 100,
            batch_size: 32,
            optimiser: OptimiserConfig::adam(1e-4),
            schedule: Schedule::Plateau { factor: 0.1, patience: 10 },
            clip: None,
            reduction: Reduction::Sum,
            max_steps: None,
            shards: 1,
            early_stop: None,
        }
    }

    /// The authors' training on NAS-Bench-101: AdamW at 1e-3, batches of 64, 10 epochs, warm-up and linear decay.
    pub fn mlm() -> FitConfig {
        FitConfig {
            epochs: 10,
            batch_size: 64,
            optimiser: OptimiserConfig::adamw(1e-3),
            schedule: Schedule::WarmupLinear { warmup: 100 },
            reduction: Reduction::Mean,
            ..FitConfig::vae()
        }
    }

    pub(super) fn check(&self, n_graphs: usize, n_devices: usize, n_ranks: usize) -> Result<(), Error> {
        let setting = |name, value: usize, bound| Err(Error::Setting { name, value: value.to_string(), bound });
        self.optimiser.check()?;
        match () {
            () if n_graphs == 0 => Err(Error::EmptyDataset),
            () if self.batch_size == 0 => setting("the batch size", 0, "at least 1"),
            () if n_devices == 0 => setting("the number of devices", 0, "at least 1"),
            () if !self.shards.is_power_of_two() => setting("the number of shards", self.shards, "a power of two"),
            () if !n_ranks.is_power_of_two() => setting("the number of processes", n_ranks, "a power of two"),
            () if n_ranks > self.shards => setting(
                "the number of shards",
                self.shards,
                "at least the number of processes, of which each has its own",
            ),
            () => Ok(()),
        }
    }
}

fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it")]
fn is_one(shards: &usize) -> bool {
    *shards == 1
}
