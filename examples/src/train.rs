//! Training one encoder inside a run: progress bar, log, checkpoints, the weights as a file.

use std::time::Duration;

use anyhow::Result;
use burn::tensor::Device;
use pace_model::objective::Objective;
use pace_model::store::Saved;
use pace_train::record::{Run, Stage};
use pace_train::{Checkpoint, Epoch, Event, FitConfig, Source, fit};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::progress::fit_bar;

/// How an encoder is trained, and what it is called in the folder of its run.
#[derive(Clone, Copy, Debug)]
pub struct Training<'a, C> {
    /// Settings.
    pub config: &'a FitConfig,
    /// What the model is, for its files.
    pub saved: &'a Saved<C>,
    /// What is learnt, if a run trains one encoder twice.
    pub variant: Option<&'static str>,
    /// Tells the encoders of a run apart; `None` if there is one.
    pub seed: Option<u64>,
    /// Time between checkpoints.
    pub save_every: Duration,
}

/// A trained model.
#[derive(Clone, Debug)]
pub struct Trained<M> {
    /// The model, ready for inference.
    pub model: M,
    /// Its training.
    pub epochs: Vec<Epoch>,
    /// Graphs trained on per second.
    pub graphs_per_s: f64,
    /// Graphs trained on, each as often as it was seen.
    pub graphs: usize,
    /// Wall clock.
    pub seconds: f64,
}

impl<C: Serialize + DeserializeOwned> Training<'_, C> {
    /// Trains `model`, or resumes from its checkpoint. `device` is the autodiff device of the model.
    ///
    /// # Errors
    /// Those of the training, or a file that cannot be written.
    pub fn run<M, S>(&self, model: M, source: &S, device: Device, run: &mut Run) -> Result<Trained<M>>
    where
        S: Source,
        M: Objective<S::Batch> + Sync,
    {
        let name = |what: &str| {
            let what = self.variant.map_or_else(|| what.to_owned(), |variant| format!("{what}-{variant}"));
            self.seed.map_or_else(|| what.clone(), |seed| format!("{what}-{seed}"))
        };
        let checkpoint = Checkpoint::new(run.path(&name("checkpoint")), self.saved.to_json()).every(self.save_every);
        let (bar, mut draw) = fit_bar(&format!("train {}", name("encoder")));
        let mut log = Ok(());
        let fitted = fit(model, source, self.config, &[device], Some(&checkpoint), |event| {
            draw(&event);
            if let Event::Epoch { epoch, outcome, seconds } = event {
                log = run.event(json!({
                    "encoder": self.seed, "epoch": epoch, "loss": outcome.loss, "lr": outcome.lr, "seconds": seconds,
                }));
            }
        });
        bar.finish_and_clear();
        log?;
        let fitted = fitted?;
        let stage = self.variant.map_or_else(|| Stage::new("train"), |variant| Stage::new("train").variant(variant));
        run.took(&self.seed.map_or(stage.clone(), |seed| stage.seed(seed)), fitted.seconds)?;
        let model = fitted.model.valid();
        run.write(&format!("{}.safetensors", name("encoder")), &self.saved.to_safetensors(&model))?;
        if let Some(last) = fitted.epochs.last() {
            println!("{}: {} epochs, loss {:.4}", name("encoder"), fitted.epochs.len(), last.loss);
        }
        let graphs_per_s = fitted.graphs as f64 / fitted.seconds.max(f64::MIN_POSITIVE);
        let (graphs, seconds) = (fitted.graphs, fitted.seconds);
        Ok(Trained { model, epochs: fitted.epochs, graphs_per_s, graphs, seconds })
    }
}
