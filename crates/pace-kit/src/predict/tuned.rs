//! [`Tuned`]: the whole encoder, trained to rank graphs by their scores.

use anyhow::Result;
use burn::module::Module;
use pace_graph::{Dag, DagSpec, mean_std};
use pace_model::encoder::{Encoder, EncoderConfig, EncoderSettings};
use pace_model::objective::HeadConfig;
use pace_train::{FitConfig, OptimiserConfig, Schedule};

use super::Prediction;
use crate::model::supervised::{Parts, fit_best};
use crate::model::{Scored, SupervisedConfig, device, shard_graphs};

/// An encoder that is fine-tuned, from a trained one or from its initial weights.
pub struct Tuned<'a> {
    /// The graphs.
    pub dags: &'a [Dag],
    /// What they look like.
    pub spec: &'a DagSpec,
    /// The encoder's configuration.
    pub config: &'a EncoderConfig,
    /// Weights to start from.
    pub start: Option<&'a Encoder>,
    /// Share of the known graphs that chooses the pass to keep.
    pub valid: f64,
    /// Seed of everything random.
    pub seed: u64,
}

/// Steps of a training: about what some hundred graphs need.
const STEPS: usize = 600;
/// Passes, however many graphs there are.
const LEAST_PASSES: usize = 12;
/// Graphs per step.
const BATCH: usize = 32;

impl Tuned<'_> {
    /// Predicts the order of some rows from the scores of others.
    ///
    /// # Errors
    /// Those of the training.
    pub fn predict(&self, known: &[usize], scores: &[f64], wanted: &[usize]) -> Result<Vec<Prediction>> {
        let of = |rows: &[usize]| rows.iter().map(|&row| self.dags[row].clone()).collect::<Vec<Dag>>();
        let (dags, at) = (of(known), of(wanted));
        let (mean, std) = mean_std(scores.iter().copied());
        let config = SupervisedConfig { encoder: self.config.clone(), head: HeadConfig::Ranking, mean, std };
        let parts = Parts::new(&config, self.spec, Scored { dags: &dags, scores }, self.valid, self.seed)?;
        let steps_per_pass = parts.train.len().div_ceil(BATCH);
        let fit = FitConfig {
            epochs: STEPS.div_ceil(steps_per_pass).max(LEAST_PASSES),
            batch_size: BATCH,
            optimiser: OptimiserConfig::adamw(5e-4),
            schedule: Schedule::WarmupCosine { warmup: 40 },
            clip: Some(5.0),
            seed: self.seed,
            ..FitConfig::mlm()
        };
        let (plain, autodiff) = (device()?, device()?.autodiff());
        let encoder = match self.start {
            Some(encoder) => encoder.clone().train(),
            None => self.config.init(self.spec, self.seed, &autodiff),
        };
        let model = config.head.init(encoder, self.seed, &autodiff);
        let (model, _) = fit_best(model, &parts, &fit, |_| {})?;
        let (layout, mut predicted) = (self.config.layout(self.spec), Vec::with_capacity(at.len()));
        let shard = shard_graphs(self.spec.max_nodes);
        pace_train::embed::embed_dags(
            &at,
            &layout,
            shard,
            &plain,
            |batch| model.predict(batch),
            |values| {
                predicted.extend(values.iter().map(|&value| Prediction { mean: f64::from(value), std: None }));
                anyhow::Ok(())
            },
        )?;
        Ok(predicted)
    }
}
