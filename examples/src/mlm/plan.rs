//! [`MlmPlan`]: which encoder is pre-trained, and how.

use anyhow::{Context, Result};
use pace_model::encoder::{EncoderConfig, Purpose, Task};
use pace_model::layers::Readout;
use pace_model::objective::{AnyMlmConfig, MlmConfig};
use pace_train::{FitConfig, OptimiserConfig, Schedule};
use serde::{Deserialize, Serialize};

use super::args::{MlmArgs, ReadoutArg};
use crate::args::{Preset, UNTRAINED};

/// How to make the vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MlmPlan {
    /// The model.
    pub model: AnyMlmConfig,
    /// Its training; no epochs leave it untrained.
    pub fit: FitConfig,
}

impl MlmPlan {
    /// The plan of a preset: batches that keep both cores busy and a few passes over the space, or what the authors do.
    pub fn of(preset: Preset, task: Task) -> MlmPlan {
        match preset {
            Preset::Best | Preset::Paper => MlmPlan {
                model: MlmConfig::paper().any(),
                fit: FitConfig {
                    epochs: 6,
                    batch_size: 256,
                    optimiser: OptimiserConfig::adamw(1e-3),
                    schedule: Schedule::WarmupLinear { warmup: 200 },
                    ..FitConfig::mlm()
                },
            },
            Preset::AsPublished => MlmPlan { model: MlmConfig::as_published(task).any(), fit: FitConfig::mlm() },
        }
    }

    /// Puts what the user chose into the plan.
    ///
    /// # Errors
    /// If a choice does not go with the encoder.
    pub fn with_args(mut self, args: &MlmArgs, seed: u64) -> Result<MlmPlan> {
        if args.encoder == UNTRAINED {
            self.fit.epochs = 0;
        } else if args.encoder != self.model.encoder.name() {
            self.model.encoder = EncoderConfig::named(&args.encoder, Purpose::Mlm)
                .with_context(|| format!("no encoder is called {}", args.encoder))?;
        }
        args.train.ablate(&mut self.model.encoder)?;
        if let Some(readout) = args.readout {
            let pace = self.model.encoder.as_pace_mut();
            pace.context("--readout is a choice of pace; leave it out with other encoders")?.readout = match readout {
                ReadoutArg::Output => Readout::Output,
                ReadoutArg::Mean => Readout::Mean,
            };
        }
        self.fit.seed = seed;
        args.train.apply(&mut self.fit);
        Ok(self)
    }
}
