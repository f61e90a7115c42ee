//! [`VaePlan`]: how much work a VAE program does, and with which settings.

use pace_model::layers::PositionConfig;
use pace_model::objective::VaeConfig;
use pace_search::surrogate::{PublishedGpConfig, SparseGpConfig};
use pace_train::FitConfig;
use serde::{Deserialize, Serialize};

use crate::args::VaeArgs;
use crate::bo::BoPlan;
use crate::score::Gp;

/// How much work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VaePlan {
    /// The model.
    pub model: VaeConfig,
    /// Its training.
    pub fit: FitConfig,
    /// Encoders trained, from seeds of their own.
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
    pub bo: BoPlan,
    /// Training and test graphs.
    pub limit: Option<(usize, usize)>,
}

impl VaePlan {
    /// Applies what the user chose.
    pub fn with_args(mut self, args: &VaeArgs) -> VaePlan {
        args.train.ablate(&mut self.model.encoder);
        if args.train.no_dag2seq {
            self.model.decoder.embedding.position = PositionConfig::Index;
        }
        if let Some(dropout) = args.dropout {
            self.model.encoder.blocks.dropout = dropout;
            self.model.decoder.blocks.dropout = dropout;
        }
        self.model.d_latent = args.latent.unwrap_or(self.model.d_latent);
        self.model.beta = args.beta.unwrap_or(self.model.beta);
        args.train.apply(&mut self.fit);
        self.encoder_seeds = args.seeds.unwrap_or(self.encoder_seeds);
        self
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
            baseline_gp_seeds: 1,
            reconstruct: (100, 10),
            generate: (100, 10),
            bo: self.bo.smoke(),
            limit: Some((2000, 200)),
            ..self
        }
    }
}
