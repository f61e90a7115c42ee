//! The model bench: training and encoding of `pace-model` against our PyTorch peer on the same tasks.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use serde_json::Value;

use super::machine::Machine;
use super::report::{self, Row};
use super::torch::{self, last_json};
use crate::cargo::{build, capture, program};
use crate::setup::Environment;

/// A task that both sides know, and its batch size.
struct Task {
    name: &'static str,
    batch: usize,
    /// Options of both sides beyond task and batch: trees have half to all of so many nodes.
    options: &'static [&'static str],
}

const TASKS: [Task; 5] = [
    Task { name: "vae-na", batch: 32, options: &[] },
    Task { name: "vae-na", batch: 256, options: &[] },
    Task { name: "mlm101", batch: 1024, options: &[] },
    Task { name: "ast", batch: 16, options: &["--nodes", "200"] },
    Task { name: "ast", batch: 4, options: &["--nodes", "1000"] },
];

impl Task {
    /// What tells it from the others.
    fn title(&self) -> String {
        let options: String =
            self.options.iter().map(|option| format!(" {}", option.trim_start_matches('-'))).collect();
        format!("{}{options} batch {}", self.name, self.batch)
    }
}

/// What is compared: our field, the peer's field, and the name of the row.
const MEASURES: [(&str, &str, &str); 3] = [
    ("train_gps", "train_gps", "train"),
    ("encode_gps", "encode_gps", "encode"),
    ("encode_dag_gps", "encode_gps", "encode from graphs"),
];

/// The peer's variants: the best of them counts for each measure.
const VARIANTS: [&[&str]; 4] =
    [&["--threads", "1"], &["--threads", "2"], &["--threads", "1", "--compile"], &["--threads", "2", "--compile"]];

/// More variants of the peer if its batches are small: our encoding from graphs chooses the size of its shards, so the
/// peer may encode in the size that suits it best, too.
const LARGER: [&[&str]; 2] = [
    &["--threads", "2", "--infer-batch", "1024", "--skip", "train"],
    &["--threads", "2", "--infer-batch", "1024", "--skip", "train", "--compile"],
];

/// Lets both sides take turns, task by task, and compares the best of each; only those tasks whose title starts with `only`.
pub fn run(root: &Path, environment: &Environment, rounds: u32, only: &str) -> Result<Vec<Row>> {
    let tasks: Vec<&Task> = TASKS.iter().filter(|task| task.title().starts_with(only)).collect();
    let names: Vec<String> = TASKS.iter().map(Task::title).collect();
    anyhow::ensure!(!tasks.is_empty(), "no task starts with '{only}'; there are {}", names.join(", "));
    let folder = root.join("target/bench");
    let venv = torch::ensure(&folder)?;
    let graphs = folder.join("na.txt");
    eprintln!("bench: building");
    let ours = build(environment, ["--bench", "model"])?;
    capture(program(&ours).arg("--dump-na").arg(&graphs))?;
    let mut rows = Vec::new();
    for task in tasks {
        let (mut own, mut peers, mut machine) = (Vec::new(), Vec::new(), Machine::new());
        for round in 1..=rounds {
            eprintln!("bench: {}, round {round} of {rounds}", task.title());
            machine.watch();
            let larger = if task.name == "vae-na" { &LARGER[..] } else { &[] };
            for variant in VARIANTS.iter().chain(larger) {
                // Between any two variants, for the speed of a shared machine changes within minutes.
                let mut command = program(&ours);
                command.args(["--task", task.name, "--batch", &task.batch.to_string(), "--reps", "2"]);
                own.push(last_json(&capture(command.args(task.options))?)?);
                let mut command = Command::new(venv.python());
                command.arg(root.join("xtask/peers/torch_pace.py")).arg("--data").arg(&graphs);
                command.args(["--task", task.name, "--batch", &task.batch.to_string(), "--seconds", "2"]);
                peers.push(last_json(&capture(command.args(task.options).args(*variant))?)?);
            }
        }
        let compared = MEASURES.iter().map(|(ours, theirs, what)| {
            let name = format!("model/{}, {what}", task.title());
            let peer = "torch_pace.py, best of eager and compiled, 1 and 2 threads";
            Ok(Row::rates(&name, "graphs/s", best(&own, ours)?, peer, best(&peers, theirs)?))
        });
        rows.extend(report::on(&machine, compared.collect::<Result<_>>()?));
    }
    Ok(rows)
}

/// The highest rate of all runs.
fn best(runs: &[Value], field: &str) -> Result<f64> {
    let found = runs.iter().filter_map(|run| run[field].as_f64()).fold(f64::NAN, f64::max);
    anyhow::ensure!(found.is_finite(), "no run reported {field}");
    Ok(found)
}
