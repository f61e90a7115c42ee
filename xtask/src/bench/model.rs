//! The model bench: training and encoding of `pace-model` against our PyTorch peer on the same tasks.
//!
//! First every variant of the peer is tried, briefly. Then ours and the variants that came out best, one for each measure, take
//! turns, each as often as the others. Medians are compared; the best and the spread of all runs stand beside them.
//!
//! All tasks take 41 minutes the first time, when PyTorch compiles each variant; what it compiled is kept below `target/bench`.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::allocator;
use super::machine::Machine;
use super::peer::{Effort, Peer, rates};
use super::rates::Rates;
use super::report::{self, Row};
use super::torch::{self, last_json};
use super::variant::{VARIANTS, Variant};
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

    /// The arguments of both sides.
    fn arguments(&self) -> Vec<String> {
        let arguments = ["--task", self.name, "--batch", &self.batch.to_string()].map(str::to_owned);
        arguments.into_iter().chain(self.options.iter().map(|option| (*option).to_owned())).collect()
    }
}

/// What is compared: our field, the peer's measure, and the name of the row.
const MEASURES: [(&str, &str, &str); 3] = [
    ("train_gps", "train", "train"),
    ("encode_gps", "encode", "encode"),
    ("encode_dag_gps", "encode", "encode from graphs"),
];
/// Of a first try.
const TRY: Effort = Effort { seconds: 0.4, repetitions: 2, graphs: Some(4096) };
/// Of a run that counts, on both sides.
const RUN: Effort = Effort { seconds: 1.0, repetitions: 3, graphs: None };
/// So many variants of another batch size of the same model are tried again, for each measure; the others were far behind.
const REMEMBERED: usize = 3;

/// What to measure.
pub struct Plan<'a> {
    /// How often ours and the peer take turns.
    pub rounds: u32,
    /// Only tasks whose title starts so.
    pub task: &'a str,
    /// Only variants of the peer whose name contains this.
    pub variant: &'a str,
}

/// Compares task by task.
pub fn run(root: &Path, environment: &Environment, plan: &Plan<'_>) -> Result<Vec<Row>> {
    let tasks: Vec<&Task> = TASKS.iter().filter(|task| task.title().starts_with(plan.task)).collect();
    let names: Vec<String> = TASKS.iter().map(Task::title).collect();
    ensure!(!tasks.is_empty(), "no task starts with '{}'; there are {}", plan.task, names.join(", "));
    let variants: Vec<&Variant> = VARIANTS.iter().filter(|variant| variant.name.contains(plan.variant)).collect();
    let names: Vec<&str> = VARIANTS.iter().map(|variant| variant.name).collect();
    ensure!(
        !variants.is_empty(),
        "no variant of the peer is called '{}'; there are {}",
        plan.variant,
        names.join("; ")
    );
    let folder = root.join("target/bench");
    let venv = torch::ensure(&folder)?;
    let allocator = allocator::ensure(environment, &folder)?;
    let peer = Peer { venv, graphs: folder.join("na.txt"), allocator, cache: folder.join("inductor") };
    eprintln!("bench: building");
    let ours = build(environment, ["--bench", "model"])?;
    capture(program(&ours).arg("--dump-na").arg(&peer.graphs))?;
    let (mut rows, mut remembered) = (Vec::new(), HashMap::<&str, Vec<&Variant>>::new());
    for task in tasks {
        let tried = try_all(task, &peer, remembered.get(task.name).unwrap_or(&variants));
        let best_ones = MEASURED.iter().flat_map(|measure| best(&tried, measure, REMEMBERED));
        remembered.entry(task.name).or_insert_with(|| best_ones.collect());
        rows.extend(compare(task, &ours, &peer, &tried, plan.rounds)?);
    }
    Ok(rows)
}

/// One task: ours and the best variant of each measure, in turns.
fn compare(task: &Task, ours: &Path, peer: &Peer, tried: &[Tried], rounds: u32) -> Result<Vec<Row>> {
    let arguments = task.arguments();
    let (mut own, mut theirs, mut machine) = (Vec::new(), Vec::new(), Machine::new());
    for round in 1..=rounds {
        eprintln!("bench: {}, round {round} of {rounds}", task.title());
        machine.watch();
        let mut command = program(ours);
        command.args(&arguments).args(["--seconds", &RUN.seconds.to_string(), "--reps", &RUN.repetitions.to_string()]);
        own.push(last_json(&capture(&mut command)?)?);
        for (measure, other) in MEASURED.iter().zip(MEASURED.iter().rev()) {
            for variant in best(tried, measure, 1) {
                theirs.push((variant.name, peer.run(&arguments, variant, RUN, Some(other))?));
            }
        }
    }
    let mut rows = Vec::new();
    for (field, measure, what) in MEASURES {
        let Some((variant, peer)) = fastest(&theirs, measure) else {
            eprintln!("bench: {}: no variant of the peer could {measure}; no row for it", task.title());
            continue;
        };
        let own = own.iter().filter_map(|run| run[field].as_array()).flatten().filter_map(Value::as_f64);
        let own = Rates::of(&own.collect::<Vec<_>>()).with_context(|| format!("our bench reported no {field}"))?;
        let (name, peer_name) = (format!("model/{}, {what}", task.title()), format!("PyTorch, {variant}"));
        rows.push(Row::spreads(&name, "graphs/s", own, &peer_name, peer));
    }
    Ok(report::on(&machine, rows))
}

/// What both sides measure.
const MEASURED: [&str; 2] = ["train", "encode"];

/// A variant and what it printed.
type Tried = (&'static Variant, Value);

/// Each of the variants, briefly. One that fails is named and left out.
fn try_all(task: &Task, peer: &Peer, variants: &[&'static Variant]) -> Vec<Tried> {
    let mut tried: Vec<Tried> = Vec::new();
    for &variant in variants {
        let [trains, encodes] = MEASURED.map(|measure| variant.is_for(measure, task.name, task.batch));
        if (!trains && !encodes) || tried.iter().any(|(known, _)| known.name == variant.name) {
            continue;
        }
        let effort = if task.name == "ast" { Effort { graphs: None, ..TRY } } else { TRY };
        match peer.run(&task.arguments(), variant, effort, (!trains).then_some("train")) {
            Ok(run) => {
                let [train, encode] = MEASURED.map(|measure| rates(&run, measure).into_iter().fold(0.0, f64::max));
                eprintln!(
                    "bench: {}, tried {}: train {train:.1}, encode {encode:.1} graphs/s",
                    task.title(),
                    variant.name
                );
                tried.push((variant, run));
            }
            Err(error) => eprintln!("bench: {}, {} FAILED and is left out: {error:#}", task.title(), variant.name),
        }
    }
    tried
}

/// The `n` best variants of the first try.
fn best(tried: &[Tried], measure: &str, n: usize) -> Vec<&'static Variant> {
    let rate = |run: &Value| rates(run, measure).into_iter().fold(0.0, f64::max);
    let mut ranked: Vec<(f64, &Variant)> = tried.iter().map(|(variant, run)| (rate(run), *variant)).collect();
    ranked.retain(|(rate, _)| *rate > 0.0);
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked.into_iter().take(n).map(|(_, variant)| variant).collect()
}

/// The variant with the highest median, and its runs; `None` if none measured this.
fn fastest(runs: &[(&'static str, Value)], measure: &str) -> Option<(&'static str, Rates)> {
    let of = |name: &str| -> Vec<f64> {
        runs.iter().filter(|(other, _)| *other == name).flat_map(|(_, run)| rates(run, measure)).collect()
    };
    let all = runs.iter().filter_map(|(name, _)| Some((*name, Rates::of(&of(name))?)));
    all.max_by(|a, b| a.1.median.total_cmp(&b.1.median))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_highest_median_counts_not_the_luckiest_run() {
        let run = |walls: &[f64]| json!({"batch": 1, "train_walls": walls});
        let runs =
            [("lucky", run(&[1.0, 100.0, 100.0])), ("steady", run(&[20.0, 20.0, 25.0])), ("lucky", run(&[100.0]))];
        let (name, rates) = fastest(&runs, "train").unwrap();
        assert_eq!((name, rates.median, rates.high, rates.n), ("steady", 50.0, 50.0, 3));
        assert!(fastest(&runs, "encode").is_none());
    }

    #[test]
    fn variants_that_do_not_train_are_no_finalists_of_training() {
        let encoded = json!({"infer_batch": 1, "encode_walls": [1.0]});
        let trained = |wall: f64| json!({"batch": 1, "train_walls": [wall]});
        let tried: Vec<Tried> = VARIANTS[..3].iter().zip([encoded, trained(2.0), trained(1.0)]).collect();
        let names: Vec<&str> = best(&tried, "train", 3).iter().map(|variant| variant.name).collect();
        assert_eq!(names, [VARIANTS[2].name, VARIANTS[1].name]);
        assert_eq!(best(&tried, "encode", 3), [&VARIANTS[0]]);
        assert_eq!(best(&tried, "train", 1), [&VARIANTS[2]]);
    }
}
