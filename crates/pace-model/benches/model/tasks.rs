//! The measured models: the same shapes, dropout and batch sizes as the PyTorch peer.

use burn::module::Module;
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::Device;
use pace_graph::Dag;
use pace_graph::dataset::na_line;
use pace_graph::enumerate::{Enas, Sampler};
use pace_model::encoder::DagEncoder;
use pace_model::objective::{Objective, VaeConfig};
use pace_model::{DagBatch, DagTable};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::{Settings, steps_per_second};

/// Graphs per second.
#[derive(Debug, Serialize)]
pub struct Measured {
    task: String,
    batch: usize,
    encode_batch: usize,
    params: usize,
    /// Forward, backward and Adam.
    train_gps: f64,
    /// From ready tensors, as the peer does.
    encode_gps: f64,
    /// From graphs: canonical order, mask and tensors included.
    encode_dag_gps: f64,
}

/// As many graphs as NA has.
const N_NA: usize = 19_020;

/// Measures one task.
pub fn run(settings: &Settings) -> Measured {
    match settings.task.as_str() {
        "vae-na" => vae_na(settings),
        other => panic!("unknown task {other}: use vae-na"),
    }
}

/// Writes the graphs of `vae-na` for the peer, in the format of the NA file.
///
/// The peer skips the first 1,000 lines, as every loader of that file does, so the first graphs are written twice.
pub fn dump_na(file: &str) {
    let dags = sample(&Enas::default(), N_NA);
    let lines: String =
        dags[..1000].iter().chain(&dags).map(|dag| na_line(dag, 0.5).expect("an NA graph") + "\n").collect();
    std::fs::write(file, lines).expect("the bench folder can be written");
}

fn vae_na(settings: &Settings) -> Measured {
    let dags = sample(&Enas::default(), N_NA);
    let device = Device::flex();
    let mut config = VaeConfig::paper();
    // As the peer: the published attention to the memory.
    config.decoder.masked_memory = true;
    let model = config.init(&Enas::default().spec(), 1, &device.clone().autodiff());
    let table = DagTable::new(&dags, model.encoder().layout());
    measure(settings, model, &table, &dags, |model, batch| drop(model.embed(batch)))
}

fn sample(sampler: &dyn Sampler, count: usize) -> Vec<Dag> {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    (0..count).map(|_| sampler.sample(&mut rng)).collect()
}

/// Trains and encodes on consecutive batches of the table.
fn measure<M: Objective>(
    settings: &Settings,
    mut model: M,
    table: &DagTable,
    dags: &[Dag],
    encode: impl Fn(&M, &DagBatch),
) -> Measured {
    let plain = Device::flex();
    let device = plain.clone().autodiff();
    let mut optimiser = AdamConfig::new().with_epsilon(1e-8).init();
    let mut step = 0;
    let rows =
        |step: usize, size: usize| -> Vec<usize> { (0..size).map(|i| (step * size + i * 7) % table.len()).collect() };
    let train_sps = steps_per_second(settings, || {
        let batch = table.batch(&rows(step, settings.batch), &device).train(step as u64);
        let loss = model.loss(&batch).total;
        let grads = GradientsParams::from_grads(loss.backward(), &model);
        model = optimiser.step(1e-4, model.clone(), grads);
        step += 1;
    });
    let model = model.valid();
    let batches: Vec<DagBatch> = (0..8).map(|step| table.batch(&rows(step, settings.encode_batch), &plain)).collect();
    let encode_sps = steps_per_second(settings, || {
        encode(&model, &batches[step % batches.len()]);
        step += 1;
    });
    let encode_dag_sps = steps_per_second(settings, || {
        let start = step * settings.encode_batch % (dags.len() - settings.encode_batch);
        let fresh = DagTable::new(&dags[start..start + settings.encode_batch], table.layout());
        encode(&model, &fresh.whole(&plain));
        step += 1;
    });
    Measured {
        task: settings.task.clone(),
        batch: settings.batch,
        encode_batch: settings.encode_batch,
        params: Module::num_params(&model),
        train_gps: train_sps * settings.batch as f64,
        encode_gps: encode_sps * settings.encode_batch as f64,
        encode_dag_gps: encode_dag_sps * settings.encode_batch as f64,
    }
}
