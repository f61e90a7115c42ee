//! Training and encoding speed of whole models, as one JSON line; `cargo xtask bench model` runs it beside PyTorch, and
//! `cargo xtask bench growth` on trees of many sizes.
//!
//! `cargo bench -p pace-train --bench model -- --task vae-na --batch 32 --seconds 3`
//! `cargo bench -p pace-train --bench model -- --task encode-growth --nodes 30000`

mod growth;
mod tasks;
mod trainer;
mod trees;

use std::time::{Duration, Instant};

use pace_train::embed::SHARD_GRAPHS;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `vae-na`, `mlm101`, `ast`, `encode-growth` or `train-growth`.
    pub task: String,
    /// Nodes of the largest tree of `ast`, of every tree of the growth tasks.
    pub nodes: usize,
    /// Nodes of the growth tasks lie no deeper.
    pub depth: usize,
    /// Graphs per training step.
    pub batch: usize,
    /// Graphs per encoding step.
    pub encode_batch: usize,
    /// Graphs per shard of the encoding from graphs.
    pub shard: usize,
    /// How long one repetition takes, at least.
    pub seconds: f64,
    /// Repetitions; each gives a rate.
    pub repetitions: usize,
    /// What to leave out, with commas between: `train`, `encode`, `graphs`. For profiles.
    pub skip: String,
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Some(flag) = args.iter().position(|arg| arg == "--dump-na") {
        return tasks::dump_na(args.get(flag + 1).expect("--dump-na wants a file"));
    }
    let settings = parse(std::env::args().skip(1));
    let line = match settings.task.as_str() {
        "encode-growth" => serde_json::to_string(&growth::encode(&settings)),
        "train-growth" => serde_json::to_string(&growth::train(&settings)),
        _ => serde_json::to_string(&tasks::run(&settings)),
    };
    println!("{}", line.expect("plain numbers"));
}

/// Steps per second, one number per repetition; none if `what` is skipped. The first steps warm caches and are not counted.
pub fn steps_per_second(settings: &Settings, what: &str, mut step: impl FnMut()) -> Vec<f64> {
    if settings.skip.split(',').any(|skipped| skipped == what) {
        return Vec::new();
    }
    for _ in 0..3 {
        step();
    }
    let repetition = |_| {
        let (start, mut steps) = (Instant::now(), 0u32);
        while start.elapsed() < Duration::from_secs_f64(settings.seconds) || steps < 2 {
            step();
            steps += 1;
        }
        f64::from(steps) / start.elapsed().as_secs_f64()
    };
    (0..settings.repetitions).map(repetition).collect()
}

fn parse(args: impl Iterator<Item = String>) -> Settings {
    let mut settings = Settings {
        task: "vae-na".to_owned(),
        nodes: 200,
        depth: 20,
        batch: 32,
        encode_batch: 0,
        shard: 0,
        seconds: 2.0,
        repetitions: 3,
        skip: String::new(),
    };
    let mut args = args.filter(|arg| arg != "--bench");
    while let Some(flag) = args.next() {
        let value = args.next().unwrap_or_else(|| panic!("{flag} wants a value"));
        let number = || value.parse::<f64>().unwrap_or_else(|_| panic!("{flag} wants a number, not {value}"));
        match flag.as_str() {
            "--task" => settings.task = value,
            "--nodes" => settings.nodes = number() as usize,
            "--depth" => settings.depth = number() as usize,
            "--batch" => settings.batch = number() as usize,
            "--encode-batch" => settings.encode_batch = number() as usize,
            "--shard" => settings.shard = number() as usize,
            "--seconds" => settings.seconds = number(),
            "--reps" => settings.repetitions = number() as usize,
            "--skip" => settings.skip = value,
            _ => {
                panic!(
                    "unknown flag {flag}: use --task --nodes --depth --batch --encode-batch --shard --seconds --reps --skip"
                )
            }
        }
    }
    if settings.encode_batch == 0 {
        settings.encode_batch = if settings.task == "ast" { settings.batch } else { settings.batch.max(128) };
    }
    if settings.shard == 0 {
        // Trees have nothing to share, and their batches are large as they are.
        settings.shard = if settings.task == "ast" { settings.encode_batch } else { SHARD_GRAPHS };
    }
    settings
}
