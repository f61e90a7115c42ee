//! Pre-training by masked language modelling, and the vectors of a whole search space.

use std::fs::File;
use std::io::BufWriter;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use burn::module::Module;
use pace_graph::{Dag, DagSpec, Vectors};
use pace_model::encoder::{Encoder, EncoderConfig, EncoderSettings, Purpose};
use pace_model::layers::Readout;
use pace_model::objective::{AnyMlmConfig, Mlm};
use pace_model::store::Saved;
use pace_model::{DagBatch, DagTable};
use pace_train::embed::{MatrixFile, SHARD_GRAPHS, embed_all};
use pace_train::record::{Metric, Run};
use pace_train::{Checkpoint, Event, FitConfig, Pairs, Source, fit};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::args::{MlmArgs, ReadoutArg};
use crate::progress::fit_bar;

/// The encoder as initialised: the row that says what pre-training is worth.
const UNTRAINED: &str = "untrained";

/// How to make the vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MlmPlan {
    /// The model.
    pub model: AnyMlmConfig,
    /// Its training; no epochs leave it untrained.
    pub fit: FitConfig,
}

impl MlmPlan {
    /// Applies what the user chose.
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

/// Graphs, and the pairs of them that are shown together where the model wants pairs.
#[derive(Clone, Copy, Debug)]
pub struct MlmData<'a> {
    /// What the graphs look like.
    pub spec: &'a DagSpec,
    /// The graphs, to train on and to embed: their scores are not looked at.
    pub dags: &'a [Dag],
    /// Pairs among them.
    pub pairs: &'a [(usize, usize)],
}

/// Trains the model, or goes on with its checkpoint, and embeds all graphs.
///
/// # Errors
/// Those of the training, or a file that cannot be written.
pub fn pretrain_and_embed(plan: &MlmPlan, data: MlmData<'_>, save_every: Duration, run: &mut Run) -> Result<Vectors> {
    let device = pace_model::device::device("")?;
    let layout = plan.model.encoder.layout(data.spec);
    let table = run.stage("layout", |_| anyhow::Ok(DagTable::new(data.dags, &layout)))?;
    let (model, train_graphs_per_s) = match plan.model.masking.pair {
        Some(_) => train_on(plan, &Pairs::new(&table, data.pairs), data.spec, save_every, run)?,
        None => train_on(plan, &table, data.spec, save_every, run)?,
    };
    let vectors = run.stage("embed", |run| {
        let start = Instant::now();
        let vectors = embed_all(&table, SHARD_GRAPHS, &device, |batch| model.embed(batch));
        let rate = table.len() as f64 / start.elapsed().as_secs_f64();
        run.metric("encode_graphs_per_s", Metric::once(rate));
        write(run, &vectors)?;
        anyhow::Ok(vectors)
    })?;
    println!("{} graphs embedded in {} dimensions", vectors.len(), vectors.width());
    run.metric("train_graphs_per_s", Metric::once(train_graphs_per_s));
    Ok(vectors)
}

fn train_on<S: Source<Batch = DagBatch>>(
    plan: &MlmPlan,
    source: &S,
    spec: &DagSpec,
    save_every: Duration,
    run: &mut Run,
) -> Result<(Mlm<Encoder>, f64)> {
    let (config, seed) = (&plan.fit, plan.fit.seed);
    let saved = Saved::new("pace-mlm", plan.model.clone(), spec.clone());
    let checkpoint = Checkpoint::new(run.path("checkpoint"), saved.to_json()).every(save_every);
    let autodiff = pace_model::device::device("")?.autodiff();
    let model = plan.model.init(spec, seed, &autodiff);
    let (bar, mut draw) = fit_bar("pre-train");
    let mut log = Ok(());
    let fitted = fit(model, source, config, &[autodiff], Some(&checkpoint), |event| {
        draw(&event);
        if let Event::Epoch { epoch, outcome, seconds } = event {
            log = run.event(json!({"epoch": epoch, "loss": outcome.loss, "lr": outcome.lr, "seconds": seconds}));
        }
    });
    bar.finish_and_clear();
    log?;
    let fitted = fitted?;
    run.took("train", fitted.seconds)?;
    let model = fitted.model.valid();
    run.write("encoder.safetensors", &saved.to_safetensors(&model))?;
    if let Some(last) = fitted.epochs.last() {
        println!("encoder: {} epochs, loss {:.4} per hidden node", fitted.epochs.len(), last.loss);
    }
    Ok((model, fitted.graphs as f64 / fitted.seconds.max(f64::MIN_POSITIVE)))
}

fn write(run: &Run, vectors: &Vectors) -> Result<()> {
    let path = run.path("embeddings.safetensors");
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut matrix = MatrixFile::safetensors(BufWriter::new(file), "embeddings", vectors.len(), vectors.width())?;
    matrix.write(vectors.values())?;
    matrix.finish()?;
    Ok(())
}
