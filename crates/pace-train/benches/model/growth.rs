//! What one tree of a given size costs: seconds and peak memory of this process; `cargo xtask bench growth` starts one
//! process per size and kind of work, so that the peak of one is not that of another.

use std::time::Instant;

use burn::tensor::Device;
use pace_checkout::cpu_seconds;
use pace_model::GraphBatch;
use pace_model::ast::{AstAttention, AstBatch, AstLayout, AstTable};
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
    /// Of all threads, the mean of all steps; `None` if the system does not say.
    cpu_seconds: Option<f64>,
    /// What one tree adds to the memory of the process; `None` if the system does not say.
    tree_bytes: Option<u64>,
    /// Of the process from that tree on, in bytes; `None` if the system does not say.
    peak_bytes: Option<u64>,
}

/// From trees to the vectors of their roots: order, lists, tensors and encoder.
pub fn encode(settings: &Settings) -> Grown {
    let device = Device::flex();
    let model = model(N_POSITIONS, &device);
    let layout = *model.encoder().layout();
    measure(settings, layout, |forest, _| {
        let trees = 0..forest.len();
        let batch = forest.table(trees.clone(), layout).batch(&trees.collect::<Vec<_>>(), &device);
        // Reading the values makes sure that they are there.
        let vectors = model.embed(&batch).into_data();
        assert_eq!(vectors.shape()[0], batch.n_graphs());
        batch
    })
}

/// Forward, backward and Adam, from a table.
pub fn train(settings: &Settings) -> Grown {
    let device = Device::flex().autodiff();
    let model = model(N_POSITIONS, &device);
    let layout = *model.encoder().layout();
    let mut trainer = Trainer::new(model);
    let mut seed = 0;
    measure(settings, layout, |forest, table| {
        seed += 1;
        let batch = table.batch(&(0..forest.len()).collect::<Vec<_>>(), &device).train(seed);
        trainer.step(&batch);
        batch
    })
}

/// Takes steps on a few trees of 8 nodes, for what every step needs; on one tree of the size asked for, for its memory; and
/// on as many as a step should have, for the time.
fn measure(settings: &Settings, layout: AstLayout, mut step: impl FnMut(&Forest, &AstTable) -> AstBatch) -> Grown {
    let forest = |nodes: usize, count: usize| {
        let forest = Forest::new(|_| nodes, count, settings.depth);
        let table = forest.labelled(layout);
        (forest, table)
    };
    let (tiny, tiny_table) = forest(8, 4);
    step(&tiny, &tiny_table);
    let (one, one_table) = forest(settings.nodes, 1);
    let before = forget_peak();
    step(&one, &one_table);
    let tree_bytes = before.zip(memory("VmHWM:")).map(|(before, peak)| peak.saturating_sub(before));
    let (many, many_table) = forest(settings.nodes, STEP_NODES.div_ceil(settings.nodes));
    let AstAttention::Sparse(lists) = step(&many, &many_table).attention else { panic!("trees are packed") };
    let (start, cpu, mut steps, mut fastest) = (Instant::now(), cpu_seconds(), 0, f64::INFINITY);
    while steps < 3 || start.elapsed().as_secs_f64() < settings.seconds {
        let begin = Instant::now();
        step(&many, &many_table);
        fastest = fastest.min(begin.elapsed().as_secs_f64());
        steps += 1;
    }
    let graphs = many.len() as f64;
    Grown {
        nodes: settings.nodes,
        batch: many.len(),
        pairs: lists.n_pairs() as f64 / lists.n_rows() as f64,
        seconds: fastest / graphs,
        cpu_seconds: cpu.zip(cpu_seconds()).map(|(start, end)| (end - start) / f64::from(steps) / graphs),
        tree_bytes,
        peak_bytes: memory("VmHWM:"),
    }
}

/// Memory of this process by its name in /proc, e.g. `VmHWM:`, the most it ever held; `None` if the system is not Linux.
fn memory(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Resets the peak of the memory held to what is held now, and returns that; `None` if the system does not allow it.
fn forget_peak() -> Option<u64> {
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    memory("VmRSS:")
}
