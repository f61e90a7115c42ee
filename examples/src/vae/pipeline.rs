//! The pipeline: train, embed, score, decode, search.

use std::time::Instant;

use anyhow::Result;
use burn::module::Module;
use pace_model::DagTable;
use pace_model::decoder::Decoder;
use pace_model::encoder::{Encoder, EncoderSettings};
use pace_model::objective::Vae;
use pace_model::store::Saved;
use pace_train::collective::Alone;
use pace_train::record::{Run, Stage, Training};
use pace_train::{Epoch, FitConfig};

use super::args::VaeArgs;
use super::data::VaeData;
use super::decode::{Coder, Decoded, decode};
use super::plan::VaePlan;
use super::program::RawFeatures;
use super::score::{Fits, Score, scores};
use super::search::{Judge, SearchModel, SearchOutcome, optimise};
use super::vectors::{latents, write_embeddings};
use crate::train;

/// A model with the encoder and decoder that the options chose.
pub type AnyVae = Vae<Encoder, Decoder>;

/// All numbers of one encoder.
#[derive(Clone, Debug)]
pub struct EncoderOutcome {
    /// Its seed.
    pub seed: u64,
    /// Its training.
    pub epochs: Vec<Epoch>,
    /// Parameters of the encoder, without the maps to the latent space.
    pub n_parameters: usize,
    /// Graphs seen in training.
    pub graphs_seen: usize,
    /// Seconds of computing in training.
    pub train_seconds: f64,
    /// Graphs trained on per second.
    pub train_graphs_per_s: f64,
    /// Graphs encoded per second.
    pub encode_graphs_per_s: f64,
    /// Our surrogate, per seed.
    pub scores: Vec<Score>,
    /// The authors' surrogate, per seed.
    pub published_scores: Vec<Score>,
    /// What it decodes, unless that was left out.
    pub decoded: Option<Decoded>,
}

/// All numbers of the experiment.
#[derive(Clone, Debug)]
pub struct VaeOutcome {
    /// Raw features under our surrogate.
    pub raw: Vec<Score>,
    /// An untrained encoder under our surrogate.
    pub untrained: Vec<Score>,
    /// One entry per encoder.
    pub encoders: Vec<EncoderOutcome>,
    /// The search in the first encoder's latent space.
    pub search: Option<SearchOutcome>,
}

/// Runs all stages; those that are done are read back.
///
/// # Errors
/// Those of the stages.
pub fn reproduce(
    raw: RawFeatures,
    plan: &VaePlan,
    data: &VaeData,
    judge: Option<&Judge>,
    run: &mut Run,
    args: &VaeArgs,
) -> Result<VaeOutcome> {
    let device = pace_model::device::device("")?;
    let layout = plan.model.layout(&data.spec);
    let (train, test) = run.stage(&Stage::new("layout"), |_| {
        anyhow::Ok((DagTable::new(&data.train, &layout), DagTable::new(&data.test, &layout)))
    })?;

    let baseline = |kind| Fits { stage: Stage::new(kind), gp: &plan.gp, n_seeds: plan.baseline_gp_seeds };
    let features = (&raw.all(&data.train), &raw.all(&data.test));
    let [raw_scores] = scores(run, [baseline("raw")], data, features)?;
    let model = plan.model.init(&data.spec, plan.fit.seed, &device);
    let before = (&latents(&model, &train, &device), &latents(&model, &test, &device));
    let [untrained] = scores(run, [baseline("untrained")], data, before)?;
    let (untrained_model, n_nodes) = (model, plan.model.encoder.layout(&data.spec).spec.max_nodes);

    let mut outcome = VaeOutcome { raw: raw_scores, untrained, encoders: Vec::new(), search: None };
    for index in 0..plan.encoder_seeds as u64 {
        let (seed, is_first) = (plan.fit.seed + index, index == 0);
        let config = FitConfig { seed, ..plan.fit.clone() };
        let saved = Saved::new("pace-vae", plan.model.clone(), data.spec.clone());
        let training = Training {
            config: &config,
            saved: &saved,
            variant: None,
            seed: Some(seed),
            save_every: args.train.save_every(),
            ranks: &Alone,
        };
        let autodiff = device.clone().autodiff();
        let model = plan.model.init(&data.spec, seed, &autodiff);
        let trained = train::train(&training, model, &train, autodiff, run)?;
        let (z_train, z_test, encode_graphs_per_s) = run.stage(&Stage::new("embed").seed(seed), |run| {
            let start = Instant::now();
            let (z_train, z_test) = (latents(&trained.model, &train, &device), latents(&trained.model, &test, &device));
            let rate = (train.len() + test.len()) as f64 / start.elapsed().as_secs_f64();
            if is_first {
                write_embeddings(run, &z_train, &z_test)?;
            }
            anyhow::Ok((z_train, z_test, rate))
        })?;
        // The published fit takes minutes: the first encoder speaks for all, as the authors' one did.
        let n_published = if is_first { plan.published_gp_seeds } else { 0 };
        let gp = Stage::new("gp");
        let fits = [
            Fits { stage: gp.clone().variant("published").seed(seed), gp: &plan.published_gp, n_seeds: n_published },
            Fits { stage: gp.seed(seed), gp: &plan.gp, n_seeds: plan.gp_seeds },
        ];
        let [published_scores, scores] = scores(run, fits, data, (&z_train, &z_test))?;
        let coder = Coder { seed, vae: &trained.model, device: &device, train: &z_train, test: &z_test };
        let decoded = (!args.scores_only).then(|| decode(plan, data, coder, run)).transpose()?;
        outcome.encoders.push(EncoderOutcome {
            seed,
            n_parameters: trained.model.encoder().num_params(),
            graphs_seen: trained.graphs,
            train_seconds: trained.cpu_seconds,
            epochs: trained.epochs,
            train_graphs_per_s: trained.graphs_per_s,
            encode_graphs_per_s,
            scores,
            published_scores,
            decoded,
        });
        // As in the paper, one encoder is searched.
        if let Some(judge) = judge.filter(|_| is_first && !args.scores_only && !args.no_search && !args.row) {
            let width = z_train.width();
            let model = SearchModel {
                vae: &trained.model,
                untrained: &untrained_model,
                block: if width.is_multiple_of(n_nodes) { width / n_nodes } else { width },
                raw,
                device: &device,
                spec: &data.spec,
                layout: &layout,
                train: &data.train,
                latents: &z_train,
                scores: &data.train_scores,
            };
            outcome.search = Some(optimise(&plan.search, model, judge, run)?);
        }
    }
    Ok(outcome)
}
