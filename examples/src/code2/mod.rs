//! OGBG-CODE2: the words of a Python function's name, predicted from its syntax tree (Table 3 of the paper).
//!
//! `cargo xtask reproduce code2` runs this. Stages: *read* functions, from the corpus or dataset of the data folder, a folder of
//! Python files, or the Python library of the machine; *train* an encoder with five heads, one for each word; *test*: F1 of the
//! predicted words, by size and depth; *neighbours*: functions whose vectors are close.

mod budget;
mod curve;
mod data;
mod floor;
mod neighbours;
mod plan;
mod report;
mod score;
mod source;
mod training;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use burn::module::Module;
use burn::tensor::Device;
use clap::Parser;
use pace_model::encoder::AstEncoderConfig;
use pace_model::objective::HeadConfig;
use pace_train::record::{Metric, MetricSpec, Stage};
use serde_json::json;

use crate::args::RunArgs;
use crate::metrics::{ENCODE_SPEED, GRAPHS_SEEN, PARAMETERS, TRAIN_SECONDS, TRAIN_SPEED};
use crate::report::{Report, finish};
use crate::table;
use data::Code;
use plan::{Model, plan};
use training::train;

/// How many words of a name are predicted.
const N_WORDS: usize = 5;
/// How many different words there are at most.
const MAX_WORDS: usize = 5000;

const F1: MetricSpec = MetricSpec::new("f1", "test F1").decimals(4).higher();
const F1_VALID: MetricSpec = MetricSpec::new("f1_valid", "validation F1").decimals(4).higher();
const F1_FREQUENT: MetricSpec =
    MetricSpec::new("f1_frequent", "test F1 of the most frequent words").decimals(4).higher();
const F1_UNTRAINED: MetricSpec = MetricSpec::new("f1_untrained", "test F1 of the untrained model").decimals(4).higher();
const EPOCH_SECONDS: MetricSpec = MetricSpec::new("epoch_seconds", "seconds per epoch").unit("s").decimals(0).lower();

/// The columns of a table of several encoders.
fn columns() -> &'static [MetricSpec] {
    const COLUMNS: &[MetricSpec] = &[F1, F1_VALID, EPOCH_SECONDS, TRAIN_SECONDS, ENCODE_SPEED, GRAPHS_SEEN, PARAMETERS];
    COLUMNS
}

/// Predicts the names of Python functions from their syntax trees
#[derive(Clone, Debug, Parser)]
pub struct Args {
    /// Those of every program.
    #[command(flatten)]
    pub run: RunArgs,
    /// Python to learn from: a folder, a file, or JSON lines with a `code` field [default: the dataset or corpus of the data
    /// folder; without one the Python library of this machine]
    #[arg(long, value_name = "PATH")]
    pub source: Option<PathBuf>,
    /// Functions to train on; a quarter as many are kept for validation, and for the test
    #[arg(long, value_name = "N", default_value_t = 8000, conflicts_with = "full")]
    pub functions: usize,
    /// All functions
    #[arg(long)]
    pub full: bool,
    /// Read Python files without the filter of CodeSearchNet: also undocumented functions, special methods and tests
    #[arg(long)]
    pub no_filter: bool,
    /// Node types of Python 3.7, as in OGBG-CODE2: `Str` and `Num` instead of `Constant`
    #[arg(long)]
    pub python37: bool,
    /// The encoder; `all`, or names with commas between, makes a table of them
    #[arg(long, value_name = "NAME", default_value = "pace", value_parser = encoder)]
    pub encoder: String,
    /// How the model is made.
    #[command(flatten)]
    pub model: plan::ModelArgs,
    /// Minutes of training, instead of epochs: as many steps as fit, by the speed of the first ones
    #[arg(long, value_name = "X", conflicts_with = "epochs")]
    pub minutes: Option<f64>,
    /// Passes over the functions
    #[arg(long, value_name = "N")]
    pub epochs: Option<usize>,
    /// Functions per step
    #[arg(long, value_name = "N")]
    pub batch: Option<usize>,
    /// Learning rate
    #[arg(long, value_name = "X")]
    pub lr: Option<f64>,
    /// Seconds between checkpoints of the training
    #[arg(long, value_name = "X", default_value_t = 60.0)]
    pub save_every: f64,
    /// Unused here: the controls of this table cost nothing
    #[arg(long, hide = true)]
    pub no_controls: bool,
}

fn encoder(name: &str) -> Result<String, String> {
    let known = table::is_list(name) || AstEncoderConfig::named(name).is_some();
    known.then(|| name.to_owned()).ok_or_else(|| format!("there are {} and all", AstEncoderConfig::NAMES.join(", ")))
}

/// Runs the experiment.
///
/// # Errors
/// Those of its stages.
pub fn run(args: &Args) -> Result<()> {
    if table::is_list(&args.encoder) {
        return table::run_with("code2", "OGBG-CODE2", &args.encoder, &args.run, columns, curve::compare);
    }
    let plan = plan(args)?;
    let source = source::find(args)?;
    println!("{}", source.note());
    let mut run = args.run.start("code2", &args.encoder, json!({"plan": plan, "data": source.note()}))?;
    run.data(source.kind(), source.note());

    let code: Code = run.stage(&Stage::new("read"), |_| data::read(&source, args, &plan))?;
    println!("{code}");
    let device = pace_model::device::device("")?;
    let n_tokens = code.words.n_tokens();
    let head = HeadConfig::Tokens { n_positions: N_WORDS, n_tokens };
    let init = |seed: u64, device: &Device| -> Model {
        let encoder = plan.encoder.init(code.n_types, code.n_attributes, seed, device);
        head.init(encoder, !seed, device)
    };
    let untrained = run.once(&Stage::new("untrained"), |_| {
        anyhow::Ok(score::f1(&init(args.run.seed, &device), &code.test, &code.words, &device))
    })?;
    let save_every = Duration::from_secs_f64(args.save_every);
    let trained = train(&plan, &code, &init, save_every, &mut run)?;

    let model = &trained.model;
    let start = Instant::now();
    let predicted = run.stage(&Stage::new("test"), |_| anyhow::Ok(score::predict(model, &code.test.table, &device)))?;
    let encode_rate = code.test.table.len() as f64 / start.elapsed().as_secs_f64();
    let scores = score::scores(&predicted, &code.test.labels, &code.words);
    let valid = score::f1(model, &code.valid, &code.words, &device);
    let floor = floor::most_frequent(&code.train.labels, &code.test.labels);
    println!("test F1 {:.4}, the most frequent words {:.4}", score::mean(&scores), floor.f1);

    let steps_per_epoch = code.train.table.len().div_ceil(plan.fit.batch_size);
    let n_steps = trained.steps.max(1) as f64;
    for (spec, value) in [
        (F1, score::mean(&scores)),
        (F1_VALID, valid),
        (F1_FREQUENT, floor.f1),
        (F1_UNTRAINED, untrained),
        (EPOCH_SECONDS, trained.seconds / n_steps * steps_per_epoch as f64),
        (TRAIN_SECONDS, trained.cpu_seconds),
        (TRAIN_SPEED, trained.graphs as f64 / trained.seconds.max(f64::MIN_POSITIVE)),
        (ENCODE_SPEED, encode_rate),
        (GRAPHS_SEEN, trained.graphs as f64),
        (PARAMETERS, model.encoder().num_params() as f64),
    ] {
        run.metric(&spec, Metric::once(value));
    }
    let mut page = Report::new("OGBG-CODE2");
    report::numbers(&code, &floor, &mut page);
    report::curve(&curve::read(&run.path("events.jsonl"))?, &mut page)?;
    report::by_size_and_depth(&code.test, &scores, &mut page)?;
    report::names(&code, &predicted, &scores, &mut page);
    let vectors =
        run.stage(&Stage::new("neighbours"), |_| anyhow::Ok(score::vectors(model, &code.test.table, &device)))?;
    report::neighbours(&code.test, &vectors, &mut page);
    println!("report: {}", finish(page, run)?.display());
    Ok(())
}
