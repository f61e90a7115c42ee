//! `pace search`: find graphs that somebody's own program scores high.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Result, bail};
use pace_graph::{Dag, Named};
use pace_kit::search::Method;
use pace_kit::{Model, SearchSpace};
use pace_search::{Header, History, Known, Outcome, PostgresStudy};
use pace_train::record::{DataKind, Metric, MetricSpec, Run, RunId};
use serde::Serialize;
use serde_json::json;

use crate::page;
use crate::progress;
use crate::search::{Allow, AllowArg, OracleArg, Scorer, Study, address, drive, keep_journal, open};
use crate::source::{self, SourceArgs, read_spec};
use crate::terminal::{Terminal, columns};

const EXAMPLES: &str = "\
Examples:
  pace search graphs.jsonl --oracle cmd:./score.sh --queries 200 --workers 4 --out study
  pace search graphs.jsonl --oracle table:graphs.jsonl --out try     rehearse on graphs whose scores are known
  pace search graphs.jsonl --oracle cmd:./score.sh --workers 0 --out study
  pace answer study --oracle cmd:./score.sh --workers 4              on other terminals
  pace search graphs.jsonl --oracle cmd:./score.sh --study 'postgres://ann@db.example.org/lab?study=na' --out study
  pace answer 'postgres://ann@db.example.org/lab?study=na' --oracle cmd:./score.sh     on other hosts
  pace search graphs.jsonl --oracle cmd:./score.sh --allow cmd:./valid.py --out study

The command gets the graph as one line of JSON on standard input, {\"query\": 7, \"ops\": [...], \"edges\": [[0, 1], ...]}, and prints the
score, higher is better, as its last line. Anybody else may answer, too: echo '{\"tell\": 7, \"score\": 0.9}' >> study/journal.jsonl

The command of --allow reads such lines until its input ends, and answers each with a line, yes or no, flushed at once.

A killed search resumes with the same command. GRAPHS are examples of the space: their spec is inferred, and local moves follow from it.
Scores that they have are known from the start, unless --cold is given.
";

/// Search for graphs that your own program scores high
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    source: SourceArgs,
    /// Who scores: cmd:COMMAND, or table:FILE with graphs and scores, which then are the whole space
    #[arg(long, value_name = "ORACLE")]
    oracle: OracleArg,
    /// The folder of the search
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Where queries and answers stand, for workers on many hosts: postgres://USER@HOST/DATABASE?study=NAME. Not encrypted;
    /// PGPASSWORD holds the password [default: a journal in the folder]
    #[arg(long, value_name = "ADDRESS")]
    study: Option<String>,
    /// A trained model whose vectors guide the search [default: operations, edges and counts guide it]
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
    /// A spec for the graphs [default: the model's, or inferred]
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    spec: Option<PathBuf>,
    /// A rule that no spec can say: cmd:COMMAND, which is started once and answers yes or no to every line, or list:FILE, these graphs only
    #[arg(long, value_name = "RULE")]
    allow: Option<AllowArg>,
    /// How to search
    #[arg(long, value_enum, default_value = "bayes")]
    strategy: Method,
    /// Queries in all
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    queries: u32,
    /// Queries per round [default: 5, or the number of workers if that is more]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    batch: Option<u32>,
    /// Evaluations at a time in this process; 0 leaves them to others
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(..=1024))]
    workers: u32,
    /// Seconds after which a command is ended and its query counts as failed
    #[arg(long, value_name = "X")]
    timeout: Option<f64>,
    /// Forget the scores that the graphs have
    #[arg(long)]
    cold: bool,
    /// Delete what the folder and the study hold and start anew
    #[arg(long)]
    fresh: bool,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// A graph that was asked about.
#[derive(Debug, Serialize)]
struct Found {
    query: usize,
    score: f64,
    ops: Vec<String>,
    edges: Vec<(usize, usize)>,
}

const BEST: MetricSpec = MetricSpec::new("best", "best score").higher().decimals(6);
const FAILED: MetricSpec = MetricSpec::new("failed", "queries that failed").lower().decimals(0);

/// Runs the command.
///
/// # Errors
/// Those of the graphs, the model, the oracle and the folder.
pub fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    if args.timeout.is_some_and(|seconds| !(seconds > 0.0 && seconds < 1e9)) {
        bail!("--timeout must be a number of seconds above 0");
    }
    let model = args.model.as_deref().map(Model::load).transpose()?;
    let given = args.spec.as_deref().map(read_spec).transpose()?.or_else(|| model.as_ref().map(|m| m.spec().clone()));
    let graphs = source::load(&args.source, given, terminal)?;
    let timeout = args.timeout.map(Duration::from_secs_f64);
    let (scorer, table) = Scorer::of(&args.oracle, &args.source.how, Some(&graphs.spec), timeout, terminal)?;
    let (rows, scores) = graphs.scored();
    // A rehearsal that knows all answers is none.
    let is_known = !args.cold && table.is_none();
    let known =
        if is_known { rows.iter().map(|&row| graphs.dags[row].clone()).zip(scores).collect() } else { Vec::new() };
    if !known.is_empty() {
        terminal.say(format!("{} graphs have scores, from which the search starts; --cold forgets them", known.len()));
    }
    let strategy = args.strategy.config(known.len(), table.is_some());
    let workers = args.workers as usize;
    let batch = args.batch.map_or_else(|| workers.max(5), |batch| batch as usize);
    let queries = args.queries as usize;
    let address = args.study.as_deref().map(address).transpose()?;
    if args.fresh {
        Run::clear(&args.out)?;
        address.clone().map(PostgresStudy::remove).transpose()?;
    }
    let settings = json!({
        "version": env!("CARGO_PKG_VERSION"), "strategy": strategy, "batch": batch, "spec": graphs.spec,
        "graphs": graphs.dags.len(), "known": known.len(), "listed": table.is_some(), "model": args.model, "allow": args.allow.as_ref().map(ToString::to_string),
    });
    let id = RunId {
        dataset: graphs.source.clone(),
        encoder: args.model.as_ref().map_or_else(|| "none".to_owned(), |path| path.display().to_string()),
        seed: args.seed,
        threads: rayon::current_num_threads(),
        config: settings.clone(),
        commit: None,
        dirty: None,
    };
    let mut run = Run::start(&args.out, id)?;
    run.data(DataKind::Real, format!("{} graphs from {}", graphs.dags.len(), graphs.source));
    let about = Study { spec: graphs.spec.clone(), queries };
    about.write(&args.out)?;
    let study = open(address, &args.out, Header::new(strategy.name(), args.seed, settings), &about)?;
    if study.history().n_asked() > 0 {
        terminal.say(format!("resuming after {} queries", study.history().n_asked()));
    }
    let allow = Arc::new(Allow::of(args.allow.as_ref(), &args.source.how, &graphs.spec, terminal)?);
    let rule = Arc::clone(&allow);
    let mut space = SearchSpace::new(graphs.spec.clone(), &graphs.dags)
        .with_model(model)
        .with_known(Known::new(known))
        .with_rule(Box::new(move |dag: &Dag| rule.allows(dag)));
    if let Some(table) = table {
        let among = space.among(table.dags);
        allow.check()?;
        space = among?;
    }
    let study = Mutex::new(study);
    let bar = terminal.bar(progress::steps("search", queries));
    let observe = |now: crate::search::Progress| {
        bar.set_position(now.n_answered as u64);
        if let Some(best) = now.best {
            bar.set_message(format!("best {best:.6}"));
        }
    };
    let driven = space.with_strategy(&strategy, args.seed, |strategy| {
        drive(strategy, &study, &scorer, (queries, batch, workers), &observe)
    });
    bar.finish_and_clear();
    // A rule that fails ends the search early, and is the reason to name.
    allow.check()?;
    driven?;
    let study = study.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    if args.study.is_some() {
        keep_journal(&*study, &args.out)?;
    }
    finish(study.history(), &graphs.spec, run, args, terminal)
}

/// Says what was found.
fn finish(history: &History, spec: &pace_graph::DagSpec, mut run: Run, args: &Args, terminal: &Terminal) -> Result<()> {
    let entries = history.entries();
    let mut found: Vec<Found> = Vec::new();
    let mut n_failed = 0;
    for entry in entries {
        match &entry.outcome {
            Some(Outcome::Score(score)) => {
                let named = Named::of(spec, &entry.candidate.dag)?;
                found.push(Found { query: entry.id, score: *score, ops: named.ops, edges: named.edges });
            }
            Some(Outcome::Failed(_)) => n_failed += 1,
            None => {}
        }
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.query.cmp(&b.query)));
    if let Some(Outcome::Failed(reason)) = entries.iter().rev().find_map(|entry| match &entry.outcome {
        failed @ Some(Outcome::Failed(_)) => failed.as_ref(),
        _ => None,
    }) {
        terminal.warn(format!("{n_failed} of {} queries failed; the last one: {reason}", entries.len()));
    }
    if let Some(best) = found.first() {
        run.metric(&BEST, Metric::once(best.score));
    }
    run.metric(&FAILED, Metric::once(n_failed as f64));
    let lines: String =
        found.iter().map(|found| serde_json::to_string(found).map(|line| line + "\n")).collect::<Result<_, _>>()?;
    run.write("found.jsonl", lines.as_bytes())?;
    run.finish(&format!("search of {}", args.source.path.display()))?;
    page::write(&args.out)?;
    found.truncate(10);
    let result = json!({"queries": entries.len(), "failed": n_failed, "best": found, "out": args.out});
    terminal.result(&result, || {
        let head = ["score", "query", "operations and edges"].map(str::to_owned).to_vec();
        let row = |found: &Found| {
            let edges: String = found.edges.iter().map(|(from, to)| format!(" {from}>{to}")).collect();
            vec![format!("{:.6}", found.score), found.query.to_string(), format!("{} :{edges}", found.ops.join(" "))]
        };
        let table = columns(&[head].into_iter().chain(found.iter().map(row)).collect::<Vec<_>>());
        format!(
            "{} queries, the best graphs:\n{table}\nall of them: {}",
            entries.len(),
            args.out.join("found.jsonl").display()
        )
    })
}
