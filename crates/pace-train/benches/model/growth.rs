//! What one tree of a given size costs: seconds and peak memory of this process; `cargo xtask bench growth` starts one
//! process per size and kind of work, so that the peak of one is not that of another.

use std::time::Instant;

use burn::tensor::Device;
use pace_model::GraphBatch;
use pace_model::ast::{AstAttention, AstBatch};
use serde::Serialize;

use super::Settings;
use super::trainer::Trainer;
use super::trees::{Forest, model};

/// Nodes per step, at least: small trees share a step, or its fixed costs would be all there is to see.
const STEP_NODES: usize = 4_000;

/// Places in a tree that the model tells apart, as in `AstPaceConfig::code2`.
const N_POSITIONS: usize = 1_000;

/// Per tree of `nodes` nodes.
#[derive(Debug, Serialize)]
pub struct Grown {
    nodes: usize,
    /// Trees per step.
    batch: usize,
    /// Allowed pairs per node.
    pairs: f64,
    /// Of the fastest step.
    seconds: f64,
    /// Of all threads, the mean of all steps; nothing where the system does not say.
    cpu_seconds: Option<f64>,
    /// Of the process, in bytes; nothing where the system does not say.
    peak_bytes: Option<u64>,
}

/// From trees to the vectors of their roots: order, lists, tensors and encoder.
pub fn encode(settings: &Settings) -> Grown {
    let device = Device::flex();
    let (forest, model) = (forest(settings), model(N_POSITIONS, &device));
    let layout = *model.encoder().layout();
    measure(settings, &forest, || {
        let trees = 0..forest.len();
        let batch = forest.table(trees.clone(), layout).batch(&trees.collect::<Vec<_>>(), &device);
        // Reading the values makes sure that they are there.
        let vectors = model.embed(&batch).into_data();
        assert_eq!(vectors.shape()[0], batch.n_graphs());
        batch
    })
}

/// Forward, backward and Adam.
pub fn train(settings: &Settings) -> Grown {
    let device = Device::flex().autodiff();
    let (forest, model) = (forest(settings), model(N_POSITIONS, &device));
    let table = forest.labelled(*model.encoder().layout());
    let mut trainer = Trainer::new(model);
    let rows: Vec<usize> = (0..forest.len()).collect();
    let mut step = 0;
    measure(settings, &forest, || {
        step += 1;
        let batch = table.batch(&rows, &device).train(step);
        trainer.step(&batch);
        batch
    })
}

fn forest(settings: &Settings) -> Forest {
    Forest::new(|_| settings.nodes, STEP_NODES.div_ceil(settings.nodes), settings.depth)
}

/// The fastest of some steps after a first that warms up.
fn measure(settings: &Settings, forest: &Forest, mut step: impl FnMut() -> AstBatch) -> Grown {
    let AstAttention::Sparse(lists) = step().attention else { panic!("trees are packed") };
    let (start, cpu, mut steps, mut fastest) = (Instant::now(), cpu_seconds(), 0, f64::INFINITY);
    while steps < 3 || start.elapsed().as_secs_f64() < settings.seconds {
        let begin = Instant::now();
        step();
        fastest = fastest.min(begin.elapsed().as_secs_f64());
        steps += 1;
    }
    let graphs = forest.len() as f64;
    Grown {
        nodes: settings.nodes,
        batch: forest.len(),
        pairs: lists.n_pairs() as f64 / lists.n_rows() as f64,
        seconds: fastest / graphs,
        cpu_seconds: cpu.zip(cpu_seconds()).map(|(start, end)| (end - start) / f64::from(steps) / graphs),
        peak_bytes: peak_bytes(),
    }
}

/// Of all threads so far; nothing where the system is not Linux.
fn cpu_seconds() -> Option<f64> {
    /// Linux counts these times in hundredths of a second on every machine.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may itself hold spaces; user and system time are fields 14 and 15.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(|field| field.parse::<f64>().ok());
    Some(ticks.sum::<Option<f64>>()? / TICKS_PER_SECOND)
}

/// The most physical memory this process ever held; nothing where the system is not Linux.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
