//! Training, with a look at validation functions now and then.

use std::time::Duration;

use anyhow::Result;
use burn::module::Module;
use burn::tensor::Device;
use pace_graph::DagSpec;
use pace_model::store::Saved;
use pace_train::record::{Run, Stage};
use pace_train::{Checkpoint, Event, FitConfig, fit_watched};
use serde_json::json;

use super::budget;
use super::curve::{Logged, Moment};
use super::data::Code;
use super::plan::{Model, Plan};
use super::score;
use crate::progress::fit_bar;

/// How often a training is looked at.
const MOMENTS: usize = 24;

/// A trained model.
#[derive(Debug)]
pub struct Trained {
    /// The model, ready for inference.
    pub model: Model,
    /// Functions trained on, each as often as it was seen.
    pub graphs: usize,
    /// Steps.
    pub steps: usize,
    /// Seconds of training, without looks at validation functions.
    pub seconds: f64,
    /// Seconds of computing meanwhile, looks at validation functions left out, too.
    pub cpu_seconds: f64,
}

/// Trains, or resumes from the checkpoint.
///
/// # Errors
/// Those of the training, or a file that cannot be written.
pub fn train(
    plan: &Plan,
    code: &Code,
    init: &impl Fn(u64, &Device) -> Model,
    save_every: Duration,
    run: &mut Run,
) -> Result<Trained> {
    let plain = pace_model::device::device("")?;
    let device = plain.clone().autodiff();
    let table = &code.train.table;
    let steps_per_epoch = table.len().div_ceil(plan.fit.batch_size);
    let fit = match plan.minutes {
        Some(minutes) => {
            let steps = run.once(&Stage::new("budget"), |_| {
                budget::steps(minutes, &plan.fit, table, || init(plan.fit.seed, &device), &device)
            })?;
            FitConfig { epochs: steps.div_ceil(steps_per_epoch), max_steps: Some(steps), ..plan.fit.clone() }
        }
        None => plan.fit.clone(),
    };
    let n_steps = fit.max_steps.unwrap_or(fit.epochs * steps_per_epoch);
    let every = n_steps.div_ceil(MOMENTS).max(1);
    let types = (0..code.n_types).map(|op| op.to_string());
    let saved = Saved::new("ast-supervised", plan.encoder, DagSpec::ast(types));
    let checkpoint = Checkpoint::new(run.path("checkpoint"), saved.to_json()).every(save_every);
    let (bar, mut draw) = fit_bar("train");
    let (mut next, mut log) = (every, Ok(()));
    let model = init(plan.fit.seed, &device);
    let fitted = fit_watched(model, table, &fit, &[device], Some(&checkpoint), |event, model| {
        draw(&event);
        match event {
            Event::Start { step, .. } => next = (step / every + 1) * every,
            Event::Steps { step, seconds, .. } if step >= next.min(n_steps) => {
                next = (step / every + 1) * every;
                let f1 = score::f1(&model.clone().valid(), &code.watched, &code.words, &plain);
                bar.suspend(|| println!("step {step} of {n_steps}, {:.1} min: validation F1 {f1:.4}", seconds / 60.0));
                log = std::mem::replace(&mut log, Ok(()))
                    .and_then(|()| run.event(json!(Logged { curve: Moment { step, seconds, f1 } })));
            }
            Event::Epoch { epoch, outcome, seconds } => {
                let line = json!({"epoch": epoch, "loss": outcome.loss, "lr": outcome.lr, "seconds": seconds});
                log = std::mem::replace(&mut log, Ok(())).and_then(|()| run.event(line));
            }
            _ => {}
        }
    });
    bar.finish_and_clear();
    log?;
    let fitted = fitted?;
    run.took(&Stage::new("train"), fitted.seconds)?;
    let model = fitted.model.valid();
    run.write("encoder.safetensors", &saved.to_safetensors(&model))?;
    let (graphs, seconds, cpu_seconds) = (fitted.graphs, fitted.seconds, fitted.cpu_seconds);
    Ok(Trained { model, graphs, steps: n_steps, seconds, cpu_seconds })
}
