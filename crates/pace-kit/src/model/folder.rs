//! [`train_in`]: from graphs to a folder with a trained model.

use std::path::Path;

use anyhow::Result;
use pace_graph::{Dag, DagSpec};
use pace_train::collective::Collective;
use pace_train::record::{DataKind, Run, RunId};
use serde_json::{Map, Value, json};

use super::{Model, Plan, PlanArgs, Scored, train};
use crate::watch::Watch;

/// What is learnt from.
#[derive(Clone, Copy, Debug)]
pub struct Lesson<'a> {
    /// Where the graphs came from.
    pub source: &'a str,
    /// What they look like.
    pub spec: &'a DagSpec,
    /// The graphs.
    pub dags: &'a [Dag],
    /// The score of each, for a supervised model.
    pub scores: &'a [f64],
    /// What the score is called.
    pub target: &'a str,
}

/// Trains a model in a folder, or resumes; `fresh` forgets what the folder holds. Returns the numbers of the training, too. Of
/// several `ranks` each has a folder of its own, and that of rank 0 is the model's.
///
/// # Errors
/// Another run in the folder, those of the training, or a file that cannot be written.
pub fn train_in(
    dir: &Path,
    args: &PlanArgs,
    lesson: Lesson<'_>,
    fresh: bool,
    ranks: &dyn Collective,
    watcher: &mut dyn Watch,
) -> Result<(Model, Map<String, Value>)> {
    let Lesson { source, spec, dags, scores, target } = lesson;
    let plan = Plan::of(args, spec, dags.len())?;
    if fresh {
        Run::clear(dir)?;
    }
    let version = env!("CARGO_PKG_VERSION");
    let id = RunId {
        dataset: source.to_owned(),
        encoder: args.encoder.clone(),
        seed: args.seed,
        threads: rayon::current_num_threads(),
        config: json!({"version": version, "plan": plan, "spec": spec, "graphs": dags.len(), "target": target}),
        // The repository of the user's data is not ours.
        commit: None,
        dirty: None,
    };
    let mut run = Run::start(dir, id)?;
    if run.resumed() {
        watcher.say(&format!("resuming the run in {}", dir.display()));
    }
    run.data(DataKind::Real, format!("{} graphs from {source}", dags.len()));
    let trained = train(&plan, spec, Scored { dags, scores }, ranks, &mut run, watcher)?;
    run.write("spec.json", serde_json::to_string_pretty(spec)?.as_bytes())?;
    let numbers = run.table().map(|(spec, metric)| (spec.id.to_string(), json!(metric.mean))).collect();
    run.finish(&format!("{} on {source}", args.objective))?;
    Ok((trained, numbers))
}
