//! Pre-training by masked language modelling, and the vectors of a whole search space.

use std::time::{Duration, Instant};

use anyhow::Result;
use burn::module::Module;
use burn::tensor::Device;
use pace_graph::{Dag, DagSpec, Vectors};
use pace_model::encoder::{DagEncoder, EncodeParts, Encoder, EncoderSettings};
use pace_model::objective::Mlm;
use pace_model::store::Saved;
use pace_model::{DagBatch, DagTable};
use pace_train::collective::Alone;
use pace_train::embed::{MatrixFile, SHARD_GRAPHS, embed_all};
use pace_train::record::{Metric, MetricSpec, Run, Stage, Trained, Training};
use pace_train::{Pairs, Source};

use super::plan::MlmPlan;
use crate::metrics::{ENCODE_SPEED, GRAPHS_SEEN, PARAMETERS, TRAIN_SECONDS, TRAIN_SPEED};
use crate::train::train;

/// Graphs, and the pairs of them that a model of pairs is shown together.
#[derive(Clone, Copy, Debug)]
pub struct MlmData<'a> {
    /// What the graphs look like.
    pub spec: &'a DagSpec,
    /// The graphs, to train on and to embed: their scores are not looked at.
    pub dags: &'a [Dag],
    /// Pairs among them.
    pub pairs: &'a [(usize, usize)],
}

/// The trained model with the vectors of all graphs, and how fast they were made.
#[derive(Clone, Debug)]
pub struct Embedded {
    /// The vectors.
    pub vectors: Vectors,
    /// The model.
    pub trained: Vectoriser,
    /// The model before its training.
    pub untrained: Vectoriser,
    numbers: [(MetricSpec, f64); 5],
}

/// An encoder that gives graphs vectors, without gradients.
#[derive(Clone, Debug)]
pub struct Vectoriser {
    /// The encoder.
    pub encoder: Encoder,
    /// Where it computes.
    pub device: Device,
}

impl Vectoriser {
    /// The vectors of graphs.
    pub fn vectors(&self, dags: &[Dag]) -> Vectors {
        let table = DagTable::new(dags, self.encoder.layout());
        embed_all(&table, SHARD_GRAPHS, &self.device, |batch| self.encoder.encode_graphs(batch))
    }
}

impl Embedded {
    /// The speeds of training and encoding, the size of the model and its training, for the end of the table.
    pub fn speeds(&self) -> [(MetricSpec, Metric); 5] {
        self.numbers.clone().map(|(spec, number)| (spec, Metric::once(number)))
    }
}

/// Trains the model, or resumes from its checkpoint, and embeds all graphs.
///
/// # Errors
/// Those of the training, or a file that cannot be written.
pub fn pretrain_and_embed(plan: &MlmPlan, data: MlmData<'_>, save_every: Duration, run: &mut Run) -> Result<Embedded> {
    let device = pace_model::device::device("")?;
    let layout = plan.model.encoder.layout(data.spec);
    let table = run.stage(&Stage::new("layout"), |_| anyhow::Ok(DagTable::new(data.dags, &layout)))?;
    let trained = match plan.model.masking.pair {
        Some(_) => train_on(plan, &Pairs::new(&table, data.pairs), data.spec, save_every, run)?,
        None => train_on(plan, &table, data.spec, save_every, run)?,
    };
    let (vectors, encode_graphs_per_s) = run.stage(&Stage::new("embed"), |run| {
        let start = Instant::now();
        let vectors = embed_all(&table, SHARD_GRAPHS, &device, |batch| trained.model.embed(batch));
        let rate = table.len() as f64 / start.elapsed().as_secs_f64();
        write(run, &vectors)?;
        anyhow::Ok((vectors, rate))
    })?;
    println!("{} graphs embedded in {} dimensions", vectors.len(), vectors.width());
    let model = plan.model.init(data.spec, plan.fit.seed, &device);
    let untrained = Vectoriser { encoder: model.encoder().clone(), device: device.clone() };
    let numbers = [
        (TRAIN_SPEED, trained.graphs_per_s),
        (ENCODE_SPEED, encode_graphs_per_s),
        (TRAIN_SECONDS, trained.cpu_seconds),
        (GRAPHS_SEEN, trained.graphs as f64),
        (PARAMETERS, trained.model.encoder().num_params() as f64),
    ];
    let trained = Vectoriser { encoder: trained.model.encoder().clone(), device };
    Ok(Embedded { vectors, trained, untrained, numbers })
}

fn train_on<S: Source<Batch = DagBatch>>(
    plan: &MlmPlan,
    source: &S,
    spec: &DagSpec,
    save_every: Duration,
    run: &mut Run,
) -> Result<Trained<Mlm<Encoder>>> {
    let saved = Saved::new("pace-mlm", plan.model.clone(), spec.clone());
    let autodiff = pace_model::device::device("")?.autodiff();
    let model = plan.model.init(spec, plan.fit.seed, &autodiff);
    let training = Training { config: &plan.fit, saved: &saved, variant: None, seed: None, save_every, ranks: &Alone };
    train(&training, model, source, autodiff, run)
}

fn write(run: &Run, vectors: &Vectors) -> Result<()> {
    run.stream("embeddings.safetensors", |file| {
        let mut matrix = MatrixFile::safetensors(file, "embeddings", vectors.len(), vectors.width())?;
        matrix.write(vectors.values())?;
        matrix.finish().map(drop)
    })?;
    Ok(())
}
