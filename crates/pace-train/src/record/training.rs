//! [`Training`]: one model trained inside a [`Run`]: log, checkpoints, the weights as a file.

use std::time::Duration;

use burn::tensor::Device;
use pace_model::objective::Objective;
use pace_model::store::Saved;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::{Run, Stage};
use crate::checkpoint::Checkpoint;
use crate::collective::Collective;
use crate::error::Error;
use crate::fit::{Epoch, Event, FitConfig, Verdict, fit_collective};
use crate::source::Source;

/// How a model is trained, and what it is called in the folder of its run.
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
    /// The processes that train it together. Each has a run of its own; that of rank 0 is the one to keep.
    pub ranks: &'a dyn Collective,
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
    /// Seconds of computing, on all cores together: comparable on a machine that does other things, too.
    pub cpu_seconds: f64,
}

impl<C: Serialize + DeserializeOwned> Training<'_, C> {
    /// Trains `model`, or resumes from its checkpoint, and writes its weights. `device` is the autodiff device of the model; `watch`
    /// sees every event, e.g. to draw a progress bar, and the model of that moment; it may end the training, see
    /// [`fit_watched`].
    ///
    /// # Errors
    /// Those of [`fit`](crate::fit), or a file that cannot be written.
    pub fn run<M, S, V>(
        &self,
        model: M,
        source: &S,
        device: Device,
        run: &mut Run,
        mut watch: impl FnMut(&Event<'_>, &M) -> V,
    ) -> Result<Trained<M>, Error>
    where
        S: Source,
        M: Objective<S::Batch> + Sync,
        V: Verdict,
    {
        let checkpoint =
            Checkpoint::new(run.path(&self.name("checkpoint")), self.saved.to_json()).every(self.save_every);
        let mut log = Ok(());
        let watch = |event: Event<'_>, model: &M| {
            let verdict = watch(&event, model);
            if let Event::Epoch { epoch, outcome, seconds } = event {
                let line = json!({
                    "encoder": self.seed, "epoch": epoch, "loss": outcome.loss, "lr": outcome.lr, "seconds": seconds,
                });
                log = std::mem::replace(&mut log, Ok(())).and_then(|()| run.event(line));
            }
            verdict
        };
        let fitted = fit_collective(model, source, self.config, &[device], self.ranks, Some(&checkpoint), watch);
        log?;
        let fitted = fitted?;
        let stage = self.variant.map_or_else(|| Stage::new("train"), |variant| Stage::new("train").variant(variant));
        run.took(&self.seed.map_or(stage.clone(), |seed| stage.seed(seed)), fitted.seconds)?;
        let model = fitted.model.valid();
        run.write(&format!("{}.safetensors", self.name("encoder")), &self.saved.to_safetensors(&model))?;
        let graphs_per_s = fitted.graphs as f64 / fitted.seconds.max(f64::MIN_POSITIVE);
        let (graphs, seconds, cpu_seconds) = (fitted.graphs, fitted.seconds, fitted.cpu_seconds);
        Ok(Trained { model, epochs: fitted.epochs, graphs_per_s, graphs, seconds, cpu_seconds })
    }

    /// What a file of this model is called, e.g. `encoder-properties-1`.
    pub fn name(&self, what: &str) -> String {
        let what = self.variant.map_or_else(|| what.to_owned(), |variant| format!("{what}-{variant}"));
        self.seed.map_or_else(|| what.clone(), |seed| format!("{what}-{seed}"))
    }
}
