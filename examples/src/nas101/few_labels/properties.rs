//! Pre-training by properties: PACE learns to say what can be computed about every cell, for which nothing has to be trained.
//!
//! Masked operations teach the nodes of a cell and leave the vector of the whole cell, which is that of its output node, to chance.
//! Properties teach that vector.

use std::time::Duration;

use anyhow::Result;
use burn::module::Module;
use pace_graph::Dag;
use pace_model::DagTable;
use pace_model::encoder::DagEncoder;
use pace_model::objective::{HeadConfig, Supervised};
use pace_model::store::Saved;
use pace_train::collective::Alone;
use pace_train::record::{Run, Training};
use pace_train::{FitConfig, OptimiserConfig, Schedule};

use super::features::Features;
use crate::mlm::Vectoriser;
use crate::train::train;

/// Between checkpoints.
const SAVE_EVERY: Duration = Duration::from_secs(20);

/// The encoder after it has learnt the properties, whose columns are standardised.
///
/// # Errors
/// Those of the training, or a file that cannot be written.
pub fn taught(
    start: &Vectoriser,
    dags: &[Dag],
    properties: &Features,
    (epochs, seed): (usize, u64),
    run: &mut Run,
) -> Result<Vectoriser> {
    let device = start.device.clone();
    let autodiff = device.clone().autodiff();
    let head = HeadConfig::Numbers { n: properties.vectors.width() };
    let table = DagTable::new(dags, start.encoder.layout()).with_targets(properties.vectors.values().to_vec());
    let model = head.init(start.encoder.clone().train(), seed, &autodiff);
    let config = FitConfig {
        seed,
        epochs,
        batch_size: 256,
        optimiser: OptimiserConfig::adamw(1e-3),
        schedule: Schedule::WarmupLinear { warmup: 200 },
        ..FitConfig::mlm()
    };
    let saved = Saved::new("pace-properties", head, start.encoder.layout().spec.clone());
    let training = Training {
        config: &config,
        saved: &saved,
        variant: Some("properties"),
        seed: None,
        save_every: SAVE_EVERY,
        ranks: &Alone,
    };
    let trained: Supervised<_> = train(&training, model, &table, autodiff, run)?.model;
    Ok(Vectoriser { encoder: trained.encoder().clone(), device })
}
