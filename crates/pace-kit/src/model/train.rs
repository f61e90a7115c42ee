//! Training a model inside its run folder.

use std::ops::ControlFlow;
use std::time::Duration;

use anyhow::Result;
use pace_graph::{Dag, DagSpec, mean_std};
use pace_model::DagTable;
use pace_model::encoder::EncoderSettings;
use pace_model::objective;
use pace_model::store::Saved;
use pace_train::Event;
use pace_train::collective::Collective;
use pace_train::record::{Metric, MetricSpec, Run, Training};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::plan::{ModelConfig, Plan};
use super::supervised::{KeptBest, Parts};
use super::{Model, Objective, SupervisedConfig, device};
use crate::watch::Watch;

const LOSS: MetricSpec = MetricSpec::new("loss", "loss of the last pass").lower().decimals(4);
const SPEED: MetricSpec = MetricSpec::new("train_graphs_per_s", "training, graphs/s").higher().decimals(0);
const GRAPHS: MetricSpec = MetricSpec::new("graphs_seen", "graphs seen in training").decimals(0);
const VALID: MetricSpec =
    MetricSpec::new("kendall_valid", "Kendall's tau on validation graphs, best pass").higher().decimals(4);

/// Between checkpoints.
const SAVE_EVERY: Duration = Duration::from_secs(20);

/// Graphs with scores; without any, for objectives that need none.
#[derive(Clone, Copy, Debug)]
pub struct Scored<'a> {
    /// The graphs.
    pub dags: &'a [Dag],
    /// The score of each.
    pub scores: &'a [f64],
}

/// Trains by a plan, or resumes from the checkpoint of the run. `ranks` train together; each has a run of its own, and that of rank
/// 0 is the one to keep.
///
/// # Errors
/// Those of the training, or a file that cannot be written.
pub fn train(
    plan: &Plan,
    spec: &DagSpec,
    data: Scored<'_>,
    ranks: &dyn Collective,
    run: &mut Run,
    watcher: &mut dyn Watch,
) -> Result<Model> {
    let (seed, autodiff) = (plan.fit.seed, device()?.autodiff());
    let layout = |encoder: &pace_model::encoder::EncoderConfig| encoder.layout(spec);
    Ok(match &plan.model {
        ModelConfig::Vae(config) => {
            let table = DagTable::new(data.dags, &config.layout(spec));
            let saved = Saved::new(Objective::VAE, config.clone(), spec.clone());
            let model =
                fit((plan, ranks), &saved, config.init(spec, seed, &autodiff), &table, run, watcher, |_, _| Ok(()))?;
            Model::Vae(saved, Box::new(model))
        }
        ModelConfig::Mlm(config) => {
            let table = DagTable::new(data.dags, &layout(&config.encoder));
            let saved = Saved::new(Objective::MLM, config.clone(), spec.clone());
            let model =
                fit((plan, ranks), &saved, config.init(spec, seed, &autodiff), &table, run, watcher, |_, _| Ok(()))?;
            Model::Mlm(saved, Box::new(model))
        }
        ModelConfig::Supervised(encoder, head) => {
            let (mean, std) = mean_std(data.scores.iter().copied());
            let std = if std > 0.0 { std } else { 1.0 };
            let config = SupervisedConfig { encoder: encoder.clone(), head: *head, mean, std };
            let parts = Parts::new(&config, spec, data, plan.valid, seed)?;
            let saved = Saved::new(Objective::SUPERVISED, config, spec.clone());
            let (mut best, dir) = (KeptBest::resume(&saved, run), run.path(""));
            let start = saved.config.init(spec, seed, &autodiff);
            let last = fit((plan, ranks), &saved, start, &parts.train, run, watcher, |event, model| match event {
                Event::Epoch { .. } => best.look(&parts, model, &dir),
                _ => Ok(()),
            })?;
            let (model, kendall) = best.or(last);
            if let Some(kendall) = kendall {
                run.metric(&VALID, Metric::once(kendall));
                watcher.say(&format!("Kendall's tau on validation graphs, best pass: {kendall:.4}"));
            }
            run.write("encoder.safetensors", &saved.to_safetensors(&model))?;
            Model::Supervised(saved, Box::new(model))
        }
    })
}

/// One training, with its progress and its numbers.
fn fit<C, M>(
    (plan, ranks): (&Plan, &dyn Collective),
    saved: &Saved<C>,
    model: M,
    table: &DagTable,
    run: &mut Run,
    watcher: &mut dyn Watch,
    mut watch: impl FnMut(&Event<'_>, &M) -> Result<()>,
) -> Result<M>
where
    C: Serialize + DeserializeOwned,
    M: objective::Objective + Sync,
{
    let training = Training { config: &plan.fit, saved, variant: None, seed: None, save_every: SAVE_EVERY, ranks };
    let mut watched = Ok(());
    let trained = training.run(model, table, device()?.autodiff(), run, |event, model| {
        if watched.is_ok() {
            watched = watch(event, model);
        }
        match &watched {
            Ok(()) => watcher.event(event),
            Err(_) => ControlFlow::Break(()),
        }
    });
    watched?;
    let trained = trained?;
    let loss = trained.epochs.last().map_or(f64::NAN, |epoch| epoch.loss);
    run.metric(&LOSS, Metric::once(loss));
    run.metric(&SPEED, Metric::once(trained.graphs_per_s));
    run.metric(&GRAPHS, Metric::once(trained.graphs as f64));
    watcher.say(&format!(
        "{} passes, {} graphs seen in {:.0} s ({:.0} per second), loss {loss:.4}",
        trained.epochs.len(),
        trained.graphs,
        trained.seconds,
        trained.graphs_per_s
    ));
    Ok(trained.model)
}
