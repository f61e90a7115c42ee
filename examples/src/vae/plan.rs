//! [`VaePlan`]: how much work a VAE program does, and with which settings.

use anyhow::{Context, Result, bail};
use pace_model::decoder::DecoderConfig;
use pace_model::encoder::{EncoderConfig, Purpose};
use pace_model::layers::{NodeLabel, PositionConfig};
use pace_model::objective::AnyVaeConfig;
use pace_search::surrogate::{PublishedGpConfig, SparseGpConfig};
use pace_train::FitConfig;
use serde::{Deserialize, Serialize};

use super::args::VaeArgs;
use super::score::Gp;
use super::search::SearchPlan;
use crate::args::Preset;

/// The plans of a dataset, one per preset.
#[derive(Clone, Copy, Debug)]
pub struct Plans {
    /// Ours.
    pub best: fn() -> VaePlan,
    /// The paper's model.
    pub paper: fn() -> VaePlan,
    /// The authors' code.
    pub as_published: fn() -> VaePlan,
}

impl Plans {
    /// The plan of a preset.
    pub fn of(&self, preset: Preset) -> VaePlan {
        match preset {
            Preset::Best => (self.best)(),
            Preset::Paper => (self.paper)(),
            Preset::AsPublished => (self.as_published)(),
        }
    }
}

/// The decoder that goes with an encoder: its own, or D-VAE's, with which the sources of the paper train GNNs and graph Transformers.
fn own_decoder(encoder: &str) -> &str {
    if DecoderConfig::NAMES.contains(&encoder) { encoder } else { "dvae" }
}

/// So many graphs teach the authors' surrogate in a row of a table: with all of them it would take longer than the encoder.
const ROW_GRAPHS: usize = 4000;

/// A setting that is compared with others on validation graphs.
#[derive(Clone, Copy, Debug)]
pub struct Tried {
    /// For the table.
    pub name: &'static str,
    /// What it changes in the plan.
    pub change: fn(&mut VaePlan),
}

/// How much work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VaePlan {
    /// The model.
    pub model: AnyVaeConfig,
    /// Its training.
    pub fit: FitConfig,
    /// Encoders to train, with different seeds.
    pub encoder_seeds: usize,
    /// Our surrogate.
    pub gp: Gp,
    /// Fits of it per encoder.
    pub gp_seeds: usize,
    /// The authors' surrogate.
    pub published_gp: Gp,
    /// Fits of it, on the first encoder.
    pub published_gp_seeds: usize,
    /// Fits for the rows without training (raw features, untrained encoder).
    pub baseline_gp_seeds: usize,
    /// Test graphs that are reconstructed, and decodings of each.
    pub reconstruct: (usize, usize),
    /// Vectors of the prior, and decodings of each.
    pub generate: (usize, usize),
    /// The search in the latent space.
    pub search: SearchPlan,
    /// Training and test graphs.
    pub limit: Option<(usize, usize)>,
}

impl VaePlan {
    /// Puts what the user chose into the plan.
    ///
    /// # Errors
    /// If a choice does not go with the encoder.
    pub fn with_args(mut self, args: &VaeArgs) -> Result<VaePlan> {
        if args.encoder != self.model.encoder.name() {
            // The plan's settings of PACE do not apply.
            self.model.encoder = EncoderConfig::named(&args.encoder, Purpose::Vae)
                .with_context(|| format!("no encoder is called {}", args.encoder))?;
        }
        let decoder = args.decoder.as_deref().unwrap_or_else(|| own_decoder(&args.encoder));
        if decoder != self.model.decoder.name() {
            self.model.decoder =
                DecoderConfig::named(decoder).with_context(|| format!("no decoder is called {decoder}"))?;
        }
        args.train.ablate(&mut self.model.encoder)?;
        if let Some(decoder) = self.model.decoder.as_pace_mut() {
            if decoder.share_embedding && matches!(args.train.label, Some(NodeLabel::Rooted { .. })) {
                bail!(
                    "--label rooted needs a decoder with an embedding of its own, which --preset as-published has not"
                );
            }
            if args.train.no_dag2seq {
                decoder.embedding.position = PositionConfig::Index;
            }
            decoder.blocks.dropout = args.dropout.unwrap_or(decoder.blocks.dropout);
        }
        if let Some(encoder) = self.model.encoder.as_pace_mut() {
            encoder.blocks.dropout = args.dropout.unwrap_or(encoder.blocks.dropout);
        }
        self.model.d_latent = args.latent.unwrap_or(self.model.d_latent);
        self.model.beta = args.beta.unwrap_or(self.model.beta);
        args.train.apply(&mut self.fit);
        if let Some(n_train) = args.graphs {
            self.limit = Some((n_train, self.limit.map_or(usize::MAX, |(_, n_test)| n_test)));
        }
        if args.row {
            self = self.row();
        }
        if args.train.no_controls {
            (self.baseline_gp_seeds, self.published_gp_seeds) = (0, 0);
        }
        self.encoder_seeds = args.seeds.unwrap_or(self.encoder_seeds);
        Ok(self)
    }

    /// What a table of encoders shows of one of them.
    fn row(self) -> VaePlan {
        let published_gp = match self.published_gp {
            Gp::Published { config, n_rows } => {
                Gp::Published { config, n_rows: Some(n_rows.map_or(ROW_GRAPHS, |n| n.min(ROW_GRAPHS))) }
            }
            other => other,
        };
        VaePlan {
            encoder_seeds: 1,
            gp_seeds: self.gp_seeds.min(3),
            published_gp,
            published_gp_seeds: 1,
            reconstruct: (self.reconstruct.0.min(1000), 10),
            ..self
        }
    }

    /// All stages on little work.
    pub fn smoke(self) -> VaePlan {
        let gp = SparseGpConfig { n_inducing: 50, max_iterations: 15, ..SparseGpConfig::default() };
        let published = PublishedGpConfig { n_inducing: 50, epochs: 5, ..PublishedGpConfig::default() };
        VaePlan {
            fit: FitConfig { epochs: 2, ..self.fit },
            gp: Gp::Sparse(gp),
            gp_seeds: 2,
            published_gp: Gp::Published { config: published, n_rows: None },
            published_gp_seeds: 1,
            baseline_gp_seeds: 1,
            reconstruct: (100, 10),
            generate: (100, 10),
            search: self.search.smoke(),
            limit: Some((2000, 200)),
            ..self
        }
    }
}
