//! Supervised training of a whole encoder: part of the graphs judge every pass, and the pass that ranks them best is kept.

use std::path::Path;

use anyhow::Result;
use burn::module::Module;
use burn::tensor::Device;
use pace_graph::{Dag, DagSpec};
use pace_model::encoder::{Encoder, EncoderSettings};
use pace_model::objective::{HeadConfig, Supervised};
use pace_model::store::Saved;
use pace_model::{DagTable, Layout};
use pace_search::metrics::kendall;
use pace_search::strategy::Warp;
use pace_train::embed::embed_all;
use pace_train::record::Run;
use pace_train::{Event, FitConfig, fit_watched};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::train::Scored;
use super::{SupervisedConfig, device, shard_graphs};

/// A validation part smaller than this ranks by chance.
const LEAST_VALID: usize = 20;

/// The graphs of a supervised training: those that are learnt, and those that judge.
#[derive(Debug)]
pub struct Parts {
    /// Learnt; their targets are the normal quantiles of the ranks, or standardised scores.
    pub train: DagTable,
    judge: Option<(DagTable, Vec<f64>)>,
    shard: usize,
    device: Device,
}

impl Parts {
    /// Cuts off a share for validation, unless that would be too few.
    ///
    /// # Errors
    /// If there is no device.
    pub fn new(config: &SupervisedConfig, spec: &DagSpec, data: Scored<'_>, share: f64, seed: u64) -> Result<Parts> {
        let layout = config.encoder.layout(spec);
        let mut order: Vec<usize> = (0..data.dags.len()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        let n_valid = (share * order.len() as f64) as usize;
        let (valid, train) = order.split_at(if n_valid < LEAST_VALID { 0 } else { n_valid });
        let scores = |rows: &[usize]| rows.iter().map(|&row| data.scores[row]).collect::<Vec<f64>>();
        let mut targets = scores(train);
        match config.head {
            // Ranks, because the pairwise loss weighs no distances and the squared one should not weigh failures.
            HeadConfig::Ranking => Warp::Ranks.apply(&mut targets),
            _ => targets.iter_mut().for_each(|y| *y = (*y - config.mean) / config.std),
        }
        let targets = targets.into_iter().map(|y| y as f32).collect();
        let judge = (!valid.is_empty()).then(|| (table(data.dags, valid, &layout), scores(valid)));
        let train = table(data.dags, train, &layout).with_targets(targets);
        Ok(Parts { train, judge, shard: shard_graphs(spec.max_nodes), device: device()? })
    }

    /// Kendall's tau of the model on the validation part.
    fn look(&self, model: &Supervised<Encoder>) -> Option<f64> {
        let (table, scores) = self.judge.as_ref()?;
        let model = model.clone().valid();
        let predicted = embed_all(table, self.shard, &self.device, |batch| model.predict(batch));
        let predicted: Vec<f64> = predicted.values().iter().map(|&value| f64::from(value)).collect();
        Some(kendall(&predicted, scores)).filter(|tau| tau.is_finite())
    }
}

fn table(dags: &[Dag], rows: &[usize], layout: &Layout) -> DagTable {
    DagTable::new(&rows.iter().map(|&row| dags[row].clone()).collect::<Vec<_>>(), layout)
}

/// The best pass so far.
#[derive(Clone, Debug, Default)]
pub struct Best {
    /// Its model and Kendall's tau; `None` without validation graphs.
    found: Option<(Supervised<Encoder>, f64)>,
}

impl Best {
    /// Takes note of a pass; returns its tau if it is the best.
    pub fn look(&mut self, parts: &Parts, model: &Supervised<Encoder>) -> Option<f64> {
        let tau = parts.look(model)?;
        if self.found.as_ref().is_some_and(|(_, best)| tau <= *best) {
            return None;
        }
        self.found = Some((model.clone().valid(), tau));
        Some(tau)
    }

    /// The model to use, and its tau.
    pub fn or(self, last: Supervised<Encoder>) -> (Supervised<Encoder>, Option<f64>) {
        match self.found {
            Some((model, tau)) => (model, Some(tau)),
            None => (last, None),
        }
    }
}

/// Trains in memory.
///
/// # Errors
/// Those of the training.
pub fn fit_best(
    start: Supervised<Encoder>,
    parts: &Parts,
    config: &FitConfig,
    mut observe: impl FnMut(&Event<'_>),
) -> Result<(Supervised<Encoder>, Option<f64>)> {
    let mut best = Best::default();
    let autodiff = device()?.autodiff();
    let fitted = fit_watched(start, &parts.train, config, &[autodiff], None, |event, model| {
        observe(&event);
        if matches!(event, Event::Epoch { .. }) {
            best.look(parts, model);
        }
    })?;
    Ok(best.or(fitted.model.valid()))
}

/// What a killed training has to know about its best pass.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    kendall: f64,
}

/// The best pass, kept in the folder of a run, so that a killed training does not forget it.
#[derive(Debug)]
pub struct KeptBest<'a> {
    saved: &'a Saved<SupervisedConfig>,
    best: Best,
}

const WEIGHTS: &str = "best.safetensors";
const TAU: &str = "best.json";

impl<'a> KeptBest<'a> {
    /// What an earlier process of this run has kept.
    pub fn resume(saved: &'a Saved<SupervisedConfig>, run: &Run) -> KeptBest<'a> {
        let read = || {
            let kept: Kept = serde_json::from_slice(&std::fs::read(run.path(TAU)).ok()?).ok()?;
            let bytes = std::fs::read(run.path(WEIGHTS)).ok()?;
            let model = saved.config.init(&saved.spec, 0, &device().ok()?);
            Some((saved.load(model, &bytes).ok()?, kept.kendall))
        };
        KeptBest { saved, best: Best { found: read() } }
    }

    /// Takes note of a pass; `dir` is the folder of the run.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn look(&mut self, parts: &Parts, model: &Supervised<Encoder>, dir: &Path) -> Result<()> {
        let Some(kendall) = self.best.look(parts, model) else { return Ok(()) };
        let whole = |name: &str, bytes: &[u8]| pace_graph::disk::write_whole(&dir.join(name), bytes);
        // The weights first: a tau without its weights would keep a worse model.
        if let Some((model, _)) = &self.best.found {
            whole(WEIGHTS, &self.saved.to_safetensors(model))?;
        }
        Ok(whole(TAU, &serde_json::to_vec(&Kept { kendall })?)?)
    }

    /// The model to use, and its tau.
    pub fn or(self, last: Supervised<Encoder>) -> (Supervised<Encoder>, Option<f64>) {
        self.best.or(last)
    }
}
