//! [`Model`]: a trained encoder in its folder, whatever it was trained for.
//!
//! The folder is that of a run: `cargo xtask reproduce` writes such folders, too. The weights file carries the configuration and the
//! spec of the graphs, so a model knows operations by name and refuses what it does not know.

mod folder;
mod objective;
mod plan;
pub mod supervised;
mod train;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use burn::tensor::{Device, Tensor};
use pace_graph::{Dag, DagSpec, Vectors};
use pace_model::decoder::{DecodeOptions, Decoder};
use pace_model::encoder::{DagEncoder, EncodeParts, Encoder, EncoderConfig, EncoderSettings};
use pace_model::objective::{AnyMlmConfig, AnyVaeConfig, Mlm, Supervised, Vae};
use pace_model::store::Saved;
use pace_model::{DagBatch, Error as ModelError, Layout};
use pace_train::embed::{SHARD_GRAPHS, embed_dags};
use pace_train::evaluate::decode;

pub use folder::{Lesson, train_in};
pub use objective::{Objective, SupervisedConfig};
pub use plan::{LossArg, ModelConfig, Plan, PlanArgs};
pub use train::{Scored, train};

/// The checksum of a model's weights, which tells models apart.
///
/// # Errors
/// If there is no model in the folder.
pub fn fingerprint(dir: &Path) -> Result<String> {
    let path = weights(dir)?;
    let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(format!("{:08x}", crc32c::crc32c(&bytes)))
}

/// Nodes up to which graphs are encoded in shards of the usual size; larger ones take more memory each.
const USUAL_NODES: usize = 16;

/// A trained model.
#[derive(Clone, Debug)]
pub enum Model {
    /// A variational autoencoder: vectors and graphs from vectors.
    Vae(Saved<AnyVaeConfig>, Box<Vae<Encoder, Decoder>>),
    /// An encoder trained by masked language modelling.
    Mlm(Saved<AnyMlmConfig>, Box<Mlm<Encoder>>),
    /// An encoder with a head that predicts scores.
    Supervised(Saved<SupervisedConfig>, Box<Supervised<Encoder>>),
}

impl Model {
    /// Loads the model of a folder.
    ///
    /// # Errors
    /// If there is none, or it is damaged.
    pub fn load(dir: &Path) -> Result<Model> {
        let path = weights(dir)?;
        let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Model::from_bytes(&bytes).with_context(|| format!("the model in {}", path.display()))
    }

    fn from_bytes(bytes: &[u8]) -> Result<Model> {
        let device = pace_model::device::device("")?;
        let other = |error: &ModelError| matches!(error, ModelError::OtherModel { .. });
        match Saved::<AnyVaeConfig>::from_safetensors(Objective::VAE, bytes) {
            Ok(saved) => {
                let vae = saved.load(saved.config.init(&saved.spec, 0, &device), bytes)?;
                return Ok(Model::Vae(saved, Box::new(vae)));
            }
            Err(error) if !other(&error) => return Err(error.into()),
            Err(_) => {}
        }
        match Saved::<AnyMlmConfig>::from_safetensors(Objective::MLM, bytes) {
            Ok(saved) => {
                let mlm = saved.load(saved.config.init(&saved.spec, 0, &device), bytes)?;
                return Ok(Model::Mlm(saved, Box::new(mlm)));
            }
            Err(error) if !other(&error) => return Err(error.into()),
            Err(_) => {}
        }
        let saved = Saved::<SupervisedConfig>::from_safetensors(Objective::SUPERVISED, bytes)?;
        let supervised = saved.load(saved.config.init(&saved.spec, 0, &device), bytes)?;
        Ok(Model::Supervised(saved, Box::new(supervised)))
    }

    /// What its graphs look like.
    pub fn spec(&self) -> &DagSpec {
        match self {
            Model::Vae(saved, _) => &saved.spec,
            Model::Mlm(saved, _) => &saved.spec,
            Model::Supervised(saved, _) => &saved.spec,
        }
    }

    /// The configuration of its encoder.
    pub fn encoder_config(&self) -> &EncoderConfig {
        match self {
            Model::Vae(saved, _) => &saved.config.encoder,
            Model::Mlm(saved, _) => &saved.config.encoder,
            Model::Supervised(saved, _) => &saved.config.encoder,
        }
    }

    /// Its encoder.
    pub fn encoder(&self) -> &Encoder {
        match self {
            Model::Vae(_, vae) => vae.encoder(),
            Model::Mlm(_, mlm) => mlm.encoder(),
            Model::Supervised(_, supervised) => supervised.encoder(),
        }
    }

    /// The layout of the batches it takes.
    pub fn layout(&self) -> Layout {
        match self {
            Model::Vae(saved, _) => saved.config.layout(&saved.spec),
            Model::Mlm(saved, _) => saved.config.encoder.layout(&saved.spec),
            Model::Supervised(saved, _) => saved.config.encoder.layout(&saved.spec),
        }
    }

    /// The same model as it was before training: what training has to beat.
    ///
    /// # Errors
    /// If there is no device.
    pub fn untrained(&self, seed: u64) -> Result<Model> {
        let device = pace_model::device::device("")?;
        Ok(match self {
            Model::Vae(saved, _) => Model::Vae(saved.clone(), Box::new(saved.config.init(&saved.spec, seed, &device))),
            Model::Mlm(saved, _) => Model::Mlm(saved.clone(), Box::new(saved.config.init(&saved.spec, seed, &device))),
            Model::Supervised(saved, _) => {
                Model::Supervised(saved.clone(), Box::new(saved.config.init(&saved.spec, seed, &device)))
            }
        })
    }

    /// How many numbers a vector has.
    ///
    /// # Errors
    /// If there is no device.
    pub fn width(&self) -> Result<usize> {
        Ok(match self {
            Model::Vae(saved, _) => saved.config.width(&saved.spec, &device()?)?,
            Model::Mlm(..) | Model::Supervised(..) => self.encoder().d_graph(),
        })
    }

    /// The vectors of a batch, [B, D].
    pub fn embed(&self, batch: &DagBatch) -> Tensor<2> {
        match self {
            Model::Vae(_, vae) => vae.embed(batch),
            Model::Mlm(_, mlm) => mlm.encoder().encode_graphs(batch),
            Model::Supervised(_, supervised) => supervised.embed(batch),
        }
    }

    /// The vectors of graphs, piece by piece.
    ///
    /// # Errors
    /// The sink's.
    pub fn embed_dags(&self, dags: &[Dag], sink: impl FnMut(&[f32]) -> Result<()>) -> Result<()> {
        let device = device()?;
        let shard = shard_graphs(self.spec().max_nodes);
        embed_dags(dags, &self.layout(), shard, &device, |batch| self.embed(batch), sink)
    }

    /// The vectors of graphs.
    ///
    /// # Errors
    /// If there is no device.
    pub fn vectors(&self, dags: &[Dag]) -> Result<Vectors> {
        let mut values = Vec::new();
        self.embed_dags(dags, |shard| {
            values.extend_from_slice(shard);
            Ok(())
        })?;
        let width = values.len() / dags.len().max(1);
        Ok(Vectors::new(values, width.max(1)))
    }

    /// Graphs from vectors, by the spec; only an autoencoder has them.
    ///
    /// # Errors
    /// If the model was trained for something else, or the vectors have another width.
    pub fn decode(&self, vectors: &Vectors, options: &DecodeOptions) -> Result<Vec<Dag>> {
        let Model::Vae(saved, vae) = self else {
            bail!("this model decodes nothing: it was trained for {}", self.objective());
        };
        let width = self.width()?;
        if vectors.width() != width {
            bail!("vectors of {} numbers, and the model's have {width}", vectors.width());
        }
        let dags = decode(vae, vectors, options, &device()?, |_| {});
        // Virtual ends are normalised: as part of the data they were not there.
        let whole =
            |dag: &Dag| saved.spec.strip_ends(dag).map_or_else(|_| dag.clone(), |bare| saved.spec.add_ends(&bare));
        Ok(dags.iter().map(whole).collect())
    }

    /// What a supervised model predicts, in the units of its scores (of their ranks, if it learnt to rank).
    ///
    /// # Errors
    /// If the model is not supervised.
    pub fn predict(&self, dags: &[Dag]) -> Result<Vec<f64>> {
        let Model::Supervised(saved, supervised) = self else {
            bail!("this model predicts no scores: it was trained for {}", self.objective());
        };
        let (device, mut predicted) = (device()?, Vec::with_capacity(dags.len()));
        let shard = shard_graphs(saved.spec.max_nodes);
        embed_dags(
            dags,
            &self.layout(),
            shard,
            &device,
            |batch| supervised.predict(batch),
            |shard| {
                predicted.extend(shard.iter().map(|&value| saved.config.unscaled(f64::from(value))));
                anyhow::Ok(())
            },
        )?;
        Ok(predicted)
    }

    /// What it was trained for.
    pub fn objective(&self) -> Objective {
        match self {
            Model::Vae(..) => Objective::Vae,
            Model::Mlm(..) => Objective::Mlm,
            Model::Supervised(..) => Objective::Supervised,
        }
    }
}

/// The plain device of this build.
///
/// # Errors
/// If there is none.
pub fn device() -> Result<Device> {
    Ok(pace_model::device::device("")?)
}

/// Graphs per shard, so that a shard of large graphs takes about as much memory as one of small ones: attention is quadratic.
pub fn shard_graphs(max_nodes: usize) -> usize {
    let times = max_nodes.div_ceil(USUAL_NODES).max(1);
    (SHARD_GRAPHS / times.saturating_mul(times)).max(1)
}

/// The weights in a folder: of one model, or of the first of several.
fn weights(dir: &Path) -> Result<PathBuf> {
    let plain = dir.join("encoder.safetensors");
    if plain.exists() {
        return Ok(plain);
    }
    let entries = std::fs::read_dir(dir).with_context(|| format!("cannot read the model folder {}", dir.display()))?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with("encoder-") && name.ends_with(".safetensors")
        })
        .collect();
    found.sort();
    found
        .into_iter()
        .next()
        .with_context(|| format!("{} holds no trained model; `pace train GRAPHS --out {0}` makes one", dir.display()))
}

#[cfg(test)]
mod tests {
    use super::shard_graphs;

    #[test]
    fn shards_of_large_graphs_are_smaller() {
        assert!(shard_graphs(8) > shard_graphs(64) && shard_graphs(64) > shard_graphs(300));
        assert!((1..64).contains(&shard_graphs(300)) && shard_graphs(usize::MAX / 2) == 1);
    }
}
