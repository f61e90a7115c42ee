//! The measured models: the same shapes, dropout and batch sizes as the PyTorch peer.

use std::convert::Infallible;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use pace_graph::dataset::na_line;
use pace_graph::enumerate::{Enas, Nas101Space, Sampler};
use pace_graph::{Dag, DagSpec};
use pace_model::ast::{AstBatch, AstTable};
use pace_model::objective::{MlmConfig, Objective, VaeConfig};
use pace_model::{DagBatch, DagTable, GraphBatch};
use pace_train::embed::{embed_asts, embed_dags};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::trainer::Trainer;
use super::trees::{self, Forest};
use super::{Settings, steps_per_second};

/// Graphs per second, one number per repetition.
#[derive(Debug, Serialize)]
pub struct Measured {
    task: String,
    batch: usize,
    encode_batch: usize,
    params: usize,
    /// Forward, backward and Adam.
    train_gps: Vec<f64>,
    /// From the rows of a table, batches made anew in every step. The peer's are ready slices: what a batch of ours finds out and
    /// keeps, such as equal pasts, must not be found once and used a thousand times.
    encode_gps: Vec<f64>,
    /// From graphs, by `embed_dags`: canonical order, mask and tensors included, a shard per thread at a time.
    encode_dag_gps: Vec<f64>,
}

/// As many graphs as NA has.
const N_NA: usize = 19_020;

/// Measures one task.
pub fn run(settings: &Settings) -> Measured {
    match settings.task.as_str() {
        "vae-na" => vae_na(settings),
        "mlm101" => mlm101(settings),
        "ast" => ast(settings),
        other => panic!("unknown task {other}: use vae-na, mlm101 or ast"),
    }
}

/// Writes the graphs of `vae-na` for the peer, in the format of the NA file.
///
/// The peer skips the first 1,000 lines, as every loader of that file does, so the first graphs are written twice.
pub fn dump_na(file: &str) {
    let dags = sample(&Enas::default(), N_NA);
    let all = dags[..1000].iter().chain(&dags);
    let lines: String = all.map(|dag| na_line(dag, 0.5).expect("an NA graph") + "\n").collect();
    std::fs::write(file, lines).expect("the bench folder can be written");
}

fn vae_na(settings: &Settings) -> Measured {
    let dags = sample(&Enas::default(), N_NA);
    // As the peer: the widths of the authors' code,
    let mut config = VaeConfig::paper().of_width(32);
    // and the published attention to the memory.
    config.decoder.masked_memory = true;
    let model = config.init(&DagSpec::na(), 1, &Device::flex().autodiff());
    let layout = config.encoder.layout(&DagSpec::na());
    let source = Graphs { table: DagTable::new(&dags, &layout), dags };
    measure(settings, model, &source, |model, batch| model.embed(batch))
}

fn mlm101(settings: &Settings) -> Measured {
    let dags = sample(&Nas101Space::enumerate(), 20_000);
    let config = MlmConfig::paper();
    let model = config.init(&DagSpec::nas101(), 1, &Device::flex().autodiff());
    let layout = config.encoder.layout(&DagSpec::nas101());
    let source = Graphs { table: DagTable::new(&dags, &layout), dags };
    measure(settings, model, &source, |model, batch| model.embed(batch))
}

/// Random trees of half to all of `nodes` nodes, as the peer draws them.
fn ast(settings: &Settings) -> Measured {
    let n = settings.nodes;
    // As many as the peer has.
    let forest = Forest::new(|rng| rng.random_range(n / 2..=n), if n <= 256 { 256 } else { 64 }, 20);
    let model = trees::model(n, &Device::flex().autodiff());
    let source = Trees { table: forest.labelled(*model.encoder().layout()), forest };
    measure(settings, model, &source, |model, batch| model.embed(batch))
}

fn sample(sampler: &dyn Sampler, count: usize) -> Vec<Dag> {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    (0..count).map(|_| sampler.sample(&mut rng)).collect()
}

/// Where batches come from: a table, or the graphs anew.
trait Source {
    type Batch: GraphBatch + Sync;
    fn len(&self) -> usize;
    fn batch(&self, rows: &[usize], device: &Device) -> Self::Batch;
    fn train(batch: Self::Batch, seed: u64) -> Self::Batch;
    /// Takes all graphs in batches of `size` from graphs to vectors; returns how many numbers those have.
    fn embed(&self, size: usize, device: &Device, model: impl Fn(&Self::Batch) -> Tensor<2> + Sync) -> usize;
}

struct Graphs {
    table: DagTable,
    dags: Vec<Dag>,
}

impl Source for Graphs {
    type Batch = DagBatch;
    fn len(&self) -> usize {
        self.dags.len()
    }
    fn batch(&self, rows: &[usize], device: &Device) -> DagBatch {
        self.table.batch(rows, device)
    }
    fn train(batch: DagBatch, seed: u64) -> DagBatch {
        batch.train(seed)
    }
    fn embed(&self, size: usize, device: &Device, model: impl Fn(&DagBatch) -> Tensor<2> + Sync) -> usize {
        let mut count = 0;
        let Ok(()) = embed_dags(&self.dags, self.table.layout(), size, device, model, |rows| {
            count += rows.len();
            Ok::<(), Infallible>(())
        });
        count
    }
}

struct Trees {
    table: AstTable,
    forest: Forest,
}

impl Source for Trees {
    type Batch = AstBatch;
    fn len(&self) -> usize {
        self.forest.len()
    }
    fn batch(&self, rows: &[usize], device: &Device) -> AstBatch {
        self.table.batch(rows, device)
    }
    fn train(batch: AstBatch, seed: u64) -> AstBatch {
        batch.train(seed)
    }
    fn embed(&self, size: usize, device: &Device, model: impl Fn(&AstBatch) -> Tensor<2> + Sync) -> usize {
        let mut count = 0;
        let sink = |rows: &[f32]| {
            count += rows.len();
            Ok::<(), pace_graph::Error>(())
        };
        embed_asts(self.forest.asts(), self.table.layout(), size, device, model, sink).expect("trees");
        count
    }
}

/// Trains and encodes on batches of the source.
fn measure<M: Objective<S::Batch> + Sync, S: Source>(
    settings: &Settings,
    model: M,
    source: &S,
    encode: impl Fn(&M, &S::Batch) -> Tensor<2> + Sync,
) -> Measured {
    let plain = Device::flex();
    let device = plain.clone().autodiff();
    let mut trainer = Trainer::new(model);
    let mut step = 0;
    let encode_size = settings.encode_batch.min(source.len() - 1);
    let rows = |step: usize, size: usize| -> Vec<usize> {
        (0..size).map(|index| (step * size + index * 7) % source.len()).collect()
    };
    let train_sps = steps_per_second(settings, "train", || {
        let batch = S::train(source.batch(&rows(step, settings.batch), &device), step as u64);
        trainer.step(&batch);
        step += 1;
    });
    let model = trainer.into_model().valid();
    let encode_sps = steps_per_second(settings, "encode", || {
        encode(&model, &source.batch(&rows(step, encode_size), &plain));
        step += 1;
    });
    let from_graphs = steps_per_second(settings, "graphs", || {
        assert!(source.embed(settings.shard, &plain, |batch| encode(&model, batch)) >= source.len());
    });
    let graphs = |steps: Vec<f64>, size: usize| steps.into_iter().map(|rate| rate * size as f64).collect();
    Measured {
        task: settings.task.clone(),
        batch: settings.batch,
        encode_batch: encode_size,
        params: Module::num_params(&model),
        train_gps: graphs(train_sps, settings.batch),
        encode_gps: graphs(encode_sps, encode_size),
        encode_dag_gps: graphs(from_graphs, source.len()),
    }
}
