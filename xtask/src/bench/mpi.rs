//! Two processes of one thread against one process of one thread: training and encoding, in turns.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::machine::Machine;
use super::report::{self, Row};
use crate::mpi::world::{Pace, pace};
use crate::mpi::{fresh_dir, text};
use crate::setup::{Environment, Policy};

/// A training: name, space of its graphs, objective, batch.
const TASKS: [(&str, &str, &str, &str); 2] =
    [("vae-na batch 256", "enas", "vae", "256"), ("mlm101 batch 256", "nas101", "mlm", "256")];
/// Graphs of a training, passes, graphs that are encoded: so many that the start of the processes does not count.
const N_GRAPHS: (&str, &str, &str) = ("16000", "3", "1000000");

/// Processes and shards that take turns.
const SETTINGS: [(&str, usize, &str); 4] = [
    ("1 process", 1, "1"),
    ("1 process, 2 shards", 1, "2"),
    ("2 processes, 2 shards", 2, "2"),
    ("2 processes, 8 shards", 2, "8"),
];

/// Graphs per second of several processes or shards, beside those of one.
pub fn run(environment: &Environment, policy: Policy, rounds: u32) -> Result<Vec<Row>> {
    let pace = pace(environment, policy)?;
    let dir = fresh_dir("bench-mpi")?;
    let (mut machine, mut rows) = (Machine::new(), Vec::new());
    machine.watch();
    for (name, space, objective, batch) in TASKS {
        let graphs = dir.join(format!("{space}.jsonl"));
        pace.alone(&["sample", space, "-n", N_GRAPHS.0, "--out", text(&graphs)?], 1)?;
        let mut best = [0.0_f64; SETTINGS.len()];
        for round in 0..rounds {
            for (index, (_, size, shards)) in SETTINGS.into_iter().enumerate() {
                let out = dir.join(format!("{space}-{index}-{round}"));
                let args = [
                    "train",
                    text(&graphs)?,
                    "--objective",
                    objective,
                    "--batch",
                    batch,
                    "--epochs",
                    N_GRAPHS.1,
                    "--shards",
                    shards,
                    "--out",
                    text(&out)?,
                ];
                run_in(&pace, size, &args)?;
                best[index] = best[index].max(rate(&out)?);
            }
        }
        let others = SETTINGS.iter().zip(best).skip(1);
        rows.extend(others.map(|((setting, ..), rate)| {
            Row::rates(&format!("mpi/train {name}, {setting}"), "graphs/s", rate, SETTINGS[0].0, best[0])
        }));
    }
    rows.push(encoding(&pace, &dir, rounds)?);
    Ok(report::on(&machine, rows))
}

/// Encoding in parts; the seconds of the whole command, reading and writing included.
fn encoding(pace: &Pace, dir: &Path, rounds: u32) -> Result<Row> {
    let (graphs, model) = (dir.join("many.jsonl"), dir.join("darts-model"));
    pace.alone(&["sample", "darts", "-n", N_GRAPHS.2, "--out", text(&graphs)?], 2)?;
    let few = dir.join("few.jsonl");
    pace.alone(&["sample", "darts", "-n", "2000", "--out", text(&few)?], 1)?;
    pace.alone(&["train", text(&few)?, "--epochs", "1", "--out", text(&model)?], 1)?;
    let mut best = [f64::INFINITY; 2];
    for round in 0..rounds {
        for (index, size) in [1, 2].into_iter().enumerate() {
            let folder = dir.join(format!("parts-{size}-{round}"));
            fs::create_dir_all(&folder)?;
            let out = folder.join("vectors.npy");
            let start = std::time::Instant::now();
            run_in(pace, size, &["encode", text(&model)?, text(&graphs)?, "--parts", "16", "--out", text(&out)?])?;
            best[index] = best[index].min(start.elapsed().as_secs_f64());
        }
    }
    let n: f64 = N_GRAPHS.2.parse()?;
    let [one, two] = best.map(|seconds| n / seconds);
    Ok(Row::rates("mpi/encode darts, 2 processes", "graphs/s", two, SETTINGS[0].0, one))
}

fn run_in(pace: &Pace, size: usize, args: &[&str]) -> Result<()> {
    if size == 1 { pace.alone(args, 1) } else { pace.together(size, args, 1) }.map(drop)
}

/// Graphs per second of a finished training.
fn rate(dir: &Path) -> Result<f64> {
    let text = fs::read_to_string(dir.join("results.json"))?;
    let results: serde_json::Value = serde_json::from_str(&text)?;
    results["metrics"]["train_graphs_per_s"]["mean"].as_f64().context("results.json has no train_graphs_per_s")
}
