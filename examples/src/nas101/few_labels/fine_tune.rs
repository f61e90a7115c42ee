//! PACE fine-tuned on the labelled cells: the encoder as pre-trained, a linear head, and a few hundred steps on both.

use anyhow::{Context, Result};
use burn::module::Module;
use pace_graph::{Dag, Vectors, mean_std};
use pace_model::DagTable;
use pace_model::encoder::DagEncoder;
use pace_model::objective::HeadConfig;
use pace_train::embed::{SHARD_GRAPHS, embed_all};
use pace_train::{FitConfig, OptimiserConfig, Schedule, fit};
use rayon::ThreadPoolBuilder;
use serde::{Deserialize, Serialize};

use crate::mlm::Vectoriser;

/// How it is trained, whatever the number of labels: nothing is chosen by labels that are not given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FineTunePlan {
    /// Steps of Adam, at least.
    pub n_steps: usize,
    /// Passes over the labelled cells, at least.
    pub min_epochs: usize,
    /// Labelled cells per step.
    pub batch_size: usize,
    /// Learning rate at its highest.
    pub lr: f64,
    /// Models with different heads and orders, whose predictions are averaged.
    pub n_members: usize,
}

impl Default for FineTunePlan {
    fn default() -> FineTunePlan {
        FineTunePlan { n_steps: 400, min_epochs: 20, batch_size: 32, lr: 5e-4, n_members: 4 }
    }
}

/// What is known, and what is asked.
#[derive(Clone, Copy, Debug)]
pub struct Cells<'a> {
    /// Labelled cells.
    pub known: &'a [Dag],
    /// Their labels, of spread 1.
    pub labels: &'a [f64],
    /// Cells to be ranked.
    pub test: &'a [Dag],
}

/// Predictions for the cells that are asked, the mean of all members. On one thread: batches are small, and others run beside.
///
/// # Errors
/// Those of the training.
pub fn fine_tuned(
    plan: &FineTunePlan,
    head: HeadConfig,
    encoder: &Vectoriser,
    cells: Cells<'_>,
    seed: u64,
) -> Result<Vec<f64>> {
    let pool = ThreadPoolBuilder::new().num_threads(1).build().context("cannot start a thread")?;
    pool.install(|| {
        let layout = encoder.encoder.layout();
        let targets = cells.labels.iter().map(|&label| label as f32).collect();
        let known = DagTable::new(cells.known, layout).with_targets(targets);
        let test = DagTable::new(cells.test, layout);
        let mut sums = vec![0.0; cells.test.len()];
        for member in 0..plan.n_members as u64 {
            let predicted = plan.member(head, encoder, &known, &test, seed ^ (member << 32))?;
            let (_, spread) = mean_std(predicted.iter().copied());
            let scale = 1.0 / spread.max(f64::MIN_POSITIVE);
            sums.iter_mut().zip(predicted).for_each(|(sum, value)| *sum += scale * value);
        }
        Ok(sums)
    })
}

impl FineTunePlan {
    fn member(
        &self,
        head: HeadConfig,
        encoder: &Vectoriser,
        known: &DagTable,
        test: &DagTable,
        seed: u64,
    ) -> Result<Vec<f64>> {
        let device = pace_model::device::device("")?;
        let autodiff = device.clone().autodiff();
        let model = head.init(encoder.encoder.clone().train(), seed, &autodiff);
        let steps_per_epoch = known.len().div_ceil(self.batch_size);
        let config = FitConfig {
            epochs: self.n_steps.div_ceil(steps_per_epoch).max(self.min_epochs),
            batch_size: self.batch_size.min(known.len()),
            optimiser: OptimiserConfig::adamw(self.lr),
            schedule: Schedule::WarmupCosine { warmup: 40 },
            clip: Some(5.0),
            seed,
            ..FitConfig::mlm()
        };
        let model = fit(model, known, &config, &[autodiff], None, |_| {})?.model.valid();
        let predicted: Vectors = embed_all(test, SHARD_GRAPHS, &device, |batch| model.predict(batch));
        Ok(predicted.values().iter().map(|&value| f64::from(value)).collect())
    }
}
