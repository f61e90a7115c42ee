//! Searches for the best graph (Table 6 of the paper), and what they have to beat.
//!
//! [`optimise`] runs every [method](MethodId) from every [start](StartId), one query and several queries at a time, and then
//! the search of the paper, which decodes vectors of the latent space in rounds of 50.

mod latent;
mod method;
mod outcome;
mod start;

use anyhow::Result;
use burn::tensor::Device;
use pace_graph::enumerate::{Mutate, Sampler};
use pace_graph::{Dag, DagSpec, Vectors, canonical};
use pace_model::decoder::Decoder;
use pace_model::encoder::Encoder;
use pace_model::objective::Vae;
use pace_model::{DagTable, Layout};
use pace_search::oracle::Oracle;
use pace_search::space::{Embedded, Encode, Encoded, Open};
use pace_search::strategy::{Setting, StrategyConfig};
use pace_search::{Header, Journal, Matrix, Trace, widen};
use pace_train::embed::{SHARD_GRAPHS, embed_all};
use pace_train::record::{Run, Stage};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::program::RawFeatures;
use crate::progress::steps_bar;

pub use latent::LatentPlan;
pub use method::{Learner, MethodId};
pub use outcome::SearchOutcome;
pub use start::StartId;

use outcome::Searches;

/// How much is searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchPlan {
    /// Searches of each kind, with different seeds.
    pub seeds: usize,
    /// The first of these seeds. Seeds 1 to 8 served to choose the settings of the learner.
    pub first_seed: u64,
    /// Queries per search.
    pub budget: usize,
    /// Queries per round; methods that learn from other vectors than PACE's take the first of these only.
    pub batches: Vec<usize>,
    /// What the searches know before.
    pub starts: Vec<StartId>,
    /// How many graphs these are.
    pub n_known: usize,
    /// The methods.
    pub methods: Vec<MethodId>,
    /// The settings of those that learn.
    pub learner: Learner,
    /// The search of the paper.
    pub latent: LatentPlan,
}

impl SearchPlan {
    /// The paper's number of seeds and queries.
    pub fn paper() -> SearchPlan {
        SearchPlan {
            seeds: 10,
            first_seed: 11,
            budget: 500,
            batches: vec![1, 5],
            starts: vec![StartId::Best, StartId::Random, StartId::Empty],
            n_known: 2000,
            methods: MethodId::ALL.to_vec(),
            learner: Learner {
                initial: 5,
                n_centres: 5,
                n_twice: 20,
                n_random: 0,
                max_rows: 1000,
                whole: 0.2,
                relearn: 0.1,
            },
            latent: LatentPlan::paper(),
        }
    }

    /// The same on little work.
    pub fn smoke(self) -> SearchPlan {
        let learner = Learner { max_rows: 100, ..self.learner };
        SearchPlan { seeds: 2, budget: 12, n_known: 200, learner, latent: self.latent.smoke(), ..self }
    }
}

/// Who says how good a graph is, and which graphs there are.
pub struct Judge {
    /// Scores, higher is better.
    pub oracle: Box<dyn Oracle>,
    /// The best score there is, if it is known.
    pub optimum: Option<f64>,
    /// All graphs.
    pub sampler: Box<dyn Sampler + Sync>,
    /// Small changes of a graph.
    pub edits: Box<dyn Mutate>,
    /// The graph with as few edges as the rules allow.
    pub empty: Dag,
    /// For the report.
    pub name: &'static str,
}

/// A trained model with its vectors.
#[derive(Clone, Copy)]
pub struct SearchModel<'a> {
    /// The model.
    pub vae: &'a Vae<Encoder, Decoder>,
    /// The same before its training.
    pub untrained: &'a Vae<Encoder, Decoder>,
    /// Numbers per node in its vectors.
    pub block: usize,
    /// A graph as numbers, without any encoder.
    pub raw: RawFeatures,
    /// Where it computes.
    pub device: &'a Device,
    /// Rules of the graphs.
    pub spec: &'a DagSpec,
    /// How it wants its graphs.
    pub layout: &'a Layout,
    /// The training graphs.
    pub train: &'a [Dag],
    /// Their vectors.
    pub latents: &'a Vectors,
    /// Their scores.
    pub scores: &'a [f64],
}

/// Runs all searches.
///
/// # Errors
/// Those of the searches, or a file that cannot be written.
pub fn optimise(plan: &SearchPlan, model: SearchModel<'_>, judge: &Judge, run: &mut Run) -> Result<SearchOutcome> {
    let mut searches = Vec::new();
    for &start in &plan.starts {
        for &batch in &plan.batches {
            for &method in &plan.methods {
                // The other vectors say what PACE's are worth; one size of a round is enough for that.
                let is_control = method.learns() && method != MethodId::Pace;
                if !is_control || Some(&batch) == plan.batches.first() {
                    let traces = search(plan, start, batch, method, model, judge, run)?;
                    let found = Searches { start, batch, method, traces };
                    print(&found, plan, judge);
                    searches.push(found);
                }
            }
        }
    }
    let latent = latent::optimise(&plan.latent, model, judge, run)?;
    let start_best = model.scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (optimum, budget, n_known) = (judge.optimum, plan.budget, plan.n_known);
    Ok(SearchOutcome { searches, latent, start_best, optimum, budget, n_known })
}

/// The searches of one kind, the seeds in parallel.
fn search(
    plan: &SearchPlan,
    start: StartId,
    batch: usize,
    method: MethodId,
    model: SearchModel<'_>,
    judge: &Judge,
    run: &mut Run,
) -> Result<Vec<Trace>> {
    let kind = Stage::new("search").variant(&format!("{}-{}-{batch}", method.name(), start.name()));
    let stages: Vec<Stage> = (plan.first_seed..).take(plan.seeds).map(|seed| kind.clone().seed(seed)).collect();
    let paths: Vec<_> = stages.iter().map(|stage| run.path(&format!("{stage}.jsonl"))).collect();
    let open = Open::new(&*judge.sampler);
    let (trained, untrained) =
        (|dags: &[Dag]| encode(model, model.vae, dags), |dags: &[Dag]| encode(model, model.untrained, dags));
    let raw = |dags: &[Dag]| widen(&model.raw.all(dags));
    let (encoder, block): (&dyn Encode, usize) = match method {
        MethodId::Raw => (&raw, model.raw.block),
        MethodId::Untrained => (&untrained, model.block),
        _ => (&trained, model.block),
    };
    let space = Encoded::new(&open, encoder);
    let strategy: StrategyConfig = method.strategy(&plan.learner, start, block);
    let bar = steps_bar(kind.to_string(), (plan.seeds * plan.budget) as u64);
    let found: Vec<Vec<Option<f64>>> = run.each(&stages, |index| {
        let seed = plan.first_seed + index as u64;
        let known = start.known((model.train, model.scores), plan.n_known, judge, seed)?;
        let embedded = method.learns().then_some(&space as &dyn Embedded);
        let setting = Setting { space: &open, embedded, mutate: Some(&*judge.edits), known: Some(&known) };
        let mut strategy_now = strategy.init(setting, seed)?;
        let header =
            Header::new(&stages[index].to_string(), seed, json!({"strategy": strategy, "known": plan.n_known}));
        let mut journal = Journal::open(&paths[index], header)?;
        let mut budget = 0;
        // Round by round, to stop at the optimum.
        let trace = loop {
            budget = (budget + batch).min(plan.budget);
            let step = &mut |_: pace_search::Step<'_>| bar.inc(1);
            let trace = pace_search::run(&mut *strategy_now, &*judge.oracle, &mut journal, budget, batch, step)?;
            let is_done = judge.optimum.is_some_and(|optimum| trace.queries_until(optimum).is_some());
            if is_done || budget >= plan.budget || trace.len() < budget {
                break trace;
            }
        };
        anyhow::Ok(trace.scores)
    })?;
    bar.finish_and_clear();
    Ok(found.into_iter().map(Trace::of).collect())
}

fn print(found: &Searches, plan: &SearchPlan, judge: &Judge) {
    let (method, start, batch) = (found.method.name(), found.start.name(), found.batch);
    match judge.optimum {
        Some(optimum) => {
            let (share, median) = found.until(optimum, plan.budget);
            println!("{method} from {start}, {batch} at a time: optimum in {share:.0} %, median {median} queries");
        }
        None => {
            let finals = found.finals(f64::NEG_INFINITY);
            println!("{method} from {start}, {batch} at a time: {} {:.5}", judge.name, crate::metrics::mean(&finals));
        }
    }
}

/// The vectors of graphs in any numbering.
fn encode(model: SearchModel<'_>, vae: &Vae<Encoder, Decoder>, dags: &[Dag]) -> Matrix {
    // A layout that keeps the stored order wants it topological.
    let numbered = |dag: &Dag| if dag.is_topologically_numbered() { dag.clone() } else { canonical(dag) };
    let dags: Vec<Dag> = dags.iter().map(numbered).collect();
    let table = DagTable::new(&dags, model.layout);
    widen(&embed_all(&table, SHARD_GRAPHS, model.device, |batch| vae.embed(batch)))
}
