//! The PyTorch peer: its environment, its variants, and what a run of it printed.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::torch::last_json;
use super::variant::Variant;
use crate::cargo::capture;
use crate::root::workspace_root;
use crate::venv::Venv;

/// The peer, ready to run.
pub struct Peer {
    /// Python with PyTorch.
    pub venv: Venv,
    /// The graphs of `vae-na`.
    pub graphs: PathBuf,
    /// Our allocator, for Python.
    pub allocator: PathBuf,
    /// Where compiled code is kept from process to process.
    pub cache: PathBuf,
}

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Seconds of one repetition.
    pub seconds: f64,
    /// Repetitions.
    pub repetitions: usize,
    /// Graphs to make ready, if fewer than usual do: rates do not depend on it, start-up does.
    pub graphs: Option<usize>,
}

impl Peer {
    /// Runs a variant; `skip` leaves out `train` or `encode`.
    pub fn run(&self, task: &[String], variant: &Variant, effort: Effort, skip: Option<&str>) -> Result<Value> {
        let mut command = Command::new(self.venv.python());
        command.arg(workspace_root().join("xtask/peers/torch_pace.py")).arg("--data").arg(&self.graphs).args(task);
        let threads = if variant.one_thread { 1 } else { std::thread::available_parallelism().map_or(1, usize::from) };
        let repetitions = effort.repetitions.to_string();
        command.args(["--threads", &threads.to_string(), "--seconds", &effort.seconds.to_string()]);
        command.args(["--reps", &repetitions, "--maxreps", &repetitions]).args(variant.options);
        if let Some(graphs) = effort.graphs {
            command.args(["--graphs", &graphs.to_string()]);
        }
        if let Some(skip) = skip {
            command.args(["--skip", skip]);
        }
        if !variant.system_allocator {
            command.env("LD_PRELOAD", &self.allocator);
        }
        command.env("TORCHINDUCTOR_CACHE_DIR", &self.cache);
        last_json(&capture(&mut command)?).with_context(|| format!("the peer, {}", variant.name))
    }
}

/// Graphs per second of each repetition: the peer prints milliseconds per step. None if it did not measure that.
pub fn rates(run: &Value, measure: &str) -> Vec<f64> {
    let batch = run[if measure == "train" { "batch" } else { "infer_batch" }].as_f64();
    let walls = run[format!("{measure}_walls")].as_array().map(Vec::as_slice).unwrap_or_default();
    let walls = walls.iter().filter_map(Value::as_f64).filter(|wall| *wall > 0.0);
    batch.map_or_else(Vec::new, |batch| walls.map(|wall| batch * 1e3 / wall).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_per_step_become_graphs_per_second() {
        let run =
            serde_json::json!({"batch": 4, "train_walls": [500.0, 250.0], "infer_batch": 128, "encode_walls": [64.0]});
        assert_eq!(rates(&run, "train"), [8.0, 16.0]);
        assert_eq!(rates(&run, "encode"), [2000.0]);
        assert_eq!(rates(&serde_json::json!({"batch": 4}), "train"), [0.0; 0]);
    }
}
