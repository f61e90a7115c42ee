//! [`Plan`]: which model is trained, and how.

use anyhow::{Context, Result, bail};
use pace_graph::DagSpec;
use pace_model::decoder::DecoderConfig;
use pace_model::encoder::{EncoderConfig, Purpose};
use pace_model::objective::{AnyMlmConfig, AnyVaeConfig, HeadConfig, MlmConfig, VaeConfig};
use pace_train::{FitConfig, OptimiserConfig, Reduction, Schedule};
use serde::{Deserialize, Serialize};

use super::Objective;

/// The options of a training.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Training"))]
pub struct PlanArgs {
    /// What the model learns
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value = "mlm"))]
    pub objective: Objective,
    /// The encoder: pace, or one of the systems it is compared with
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME", default_value = "pace", value_parser = clap::builder::PossibleValuesParser::new(EncoderConfig::NAMES)))]
    pub encoder: String,
    /// The decoder of an autoencoder [default: the encoder's own, or dvae]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(DecoderConfig::NAMES)))]
    pub decoder: Option<String>,
    /// How an error of a supervised model counts
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value = "ranking"))]
    pub loss: LossArg,
    /// Passes over the graphs [default: about 400,000 graphs seen, at least 6 and at most 100 passes]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..)))]
    pub epochs: Option<u32>,
    /// Graphs per step [default: 256, of an autoencoder 64, fewer if there are few graphs]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..)))]
    pub batch: Option<u32>,
    /// Parts of a batch that MPI processes share, a power of two; the outcome depends on them, and not on the number of processes
    /// [default: 1; under MPI 8, or as many as there are processes]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..)))]
    pub shards: Option<u32>,
    /// Learning rate
    #[cfg_attr(feature = "clap", arg(long, value_name = "X", default_value_t = 1e-3))]
    pub lr: f64,
    /// Width of an autoencoder's vectors [default: 64]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..)))]
    pub latent: Option<u32>,
    /// Share of the graphs with a score that a supervised model is chosen on: it keeps the pass that ranks them best
    #[cfg_attr(feature = "clap", arg(long, value_name = "X", default_value_t = 0.1))]
    pub valid: f64,
    /// Seed of everything random
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = 1))]
    pub seed: u64,
}

/// How an error of a supervised model counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum LossArg {
    /// Pairs in the wrong order: best for finding good graphs
    Ranking,
    /// Squared difference: predictions in the units of the scores
    Squared,
}

impl LossArg {
    /// The head that learns by it.
    pub fn head(self) -> HeadConfig {
        match self {
            LossArg::Ranking => HeadConfig::Ranking,
            LossArg::Squared => HeadConfig::Regression,
        }
    }
}

/// The configuration of what is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelConfig {
    /// An autoencoder.
    Vae(AnyVaeConfig),
    /// Masked language modelling.
    Mlm(AnyMlmConfig),
    /// An encoder and a head; the scale of the scores is not known yet.
    Supervised(EncoderConfig, HeadConfig),
}

/// Which model is trained, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The model.
    pub model: ModelConfig,
    /// Its training.
    pub fit: FitConfig,
    /// Share of the scored graphs for validation.
    pub valid: f64,
}

/// So many graphs are seen in a training, each as often as there are passes.
const GRAPHS_SEEN: usize = 400_000;

impl Plan {
    /// The plan that the options ask for, for `n_graphs` graphs.
    ///
    /// # Errors
    /// If a choice does not go with the graphs.
    pub fn of(args: &PlanArgs, spec: &DagSpec, n_graphs: usize) -> Result<Plan> {
        if !(0.0..0.9).contains(&args.valid) {
            bail!("--valid is {}, but must be a share from 0 to below 0.9", args.valid);
        }
        let model = args.model()?;
        if let ModelConfig::Vae(config) = &model {
            config.width(spec, &super::device()?)?;
        }
        let is_vae = args.objective == Objective::Vae;
        let usual = if is_vae { 64 } else { 256 };
        // At least some thirty steps per pass, or the rate decays before anything is learnt.
        let batch_size = args.batch.map_or_else(|| usual.min(n_graphs / 30).max(8), |batch| batch as usize);
        let epochs = args.epochs.map_or_else(|| GRAPHS_SEEN.div_ceil(n_graphs.max(1)).clamp(6, 100), |n| n as usize);
        let warmup = (epochs * n_graphs.div_ceil(batch_size) / 10).clamp(1, 200);
        let fit = FitConfig {
            seed: args.seed,
            epochs,
            batch_size,
            optimiser: if is_vae { OptimiserConfig::adam(args.lr) } else { OptimiserConfig::adamw(args.lr) },
            schedule: Schedule::WarmupCosine { warmup },
            // Without it a few batches may throw the training back.
            clip: Some(5.0),
            reduction: if is_vae { Reduction::Sum } else { Reduction::Mean },
            shards: args.shards.map_or(1, |shards| shards as usize),
            ..FitConfig::mlm()
        };
        Ok(Plan { model, fit, valid: args.valid })
    }
}

impl Default for PlanArgs {
    fn default() -> PlanArgs {
        PlanArgs {
            objective: Objective::Mlm,
            encoder: "pace".to_owned(),
            decoder: None,
            loss: LossArg::Ranking,
            epochs: None,
            batch: None,
            shards: None,
            lr: 1e-3,
            latent: None,
            valid: 0.1,
            seed: 1,
        }
    }
}

impl PlanArgs {
    fn model(&self) -> Result<ModelConfig> {
        if self.objective != Objective::Vae && (self.latent.is_some() || self.decoder.is_some()) {
            bail!("--latent and --decoder are options of --objective vae; leave them out with {}", self.objective);
        }
        let encoder = |purpose| {
            EncoderConfig::named(&self.encoder, purpose)
                .with_context(|| format!("no encoder is called {}", self.encoder))
        };
        Ok(match self.objective {
            Objective::Vae => {
                let mut config = VaeConfig::paper().of_width(32).any();
                if self.encoder != "pace" {
                    config.encoder = encoder(Purpose::Vae)?;
                }
                let own = if DecoderConfig::NAMES.contains(&&*self.encoder) { &self.encoder } else { "dvae" };
                let decoder = self.decoder.as_deref().unwrap_or(own);
                if decoder != "pace" {
                    config.decoder =
                        DecoderConfig::named(decoder).with_context(|| format!("no decoder is called {decoder}"))?;
                }
                config.d_latent = self.latent.map_or(config.d_latent, |latent| latent as usize);
                ModelConfig::Vae(config)
            }
            Objective::Mlm => {
                let mut config = MlmConfig::paper().any();
                if self.encoder != "pace" {
                    config.encoder = encoder(Purpose::Mlm)?;
                }
                ModelConfig::Mlm(config)
            }
            Objective::Supervised => ModelConfig::Supervised(encoder(Purpose::Mlm)?, self.loss.head()),
        })
    }
}
