//! The same search by several methods over many seeds.

use anyhow::Result;
use pace_search::oracle::Oracle;
use pace_search::strategy::{Setting, StrategyConfig};
use pace_search::{Band, Candidate, Curve, Header, Journal};
use pace_train::record::{Metric, MetricSpec, Run, Stage};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::args::MlmArgs;
use super::methods::MethodId;
use crate::progress::steps_bar;
use crate::report::{Line, Report, band_line, line_chart};

/// A way to search with its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// Which one.
    pub id: MethodId,
    /// The strategy.
    pub strategy: StrategyConfig,
    /// Queries per round; `None` for those of the plan.
    pub batch: Option<usize>,
}

/// How much is searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchPlan {
    /// The methods.
    pub methods: Vec<Method>,
    /// Queries per search.
    pub budget: usize,
    /// Queries per round.
    pub batch: usize,
    /// Searches per method, with different seeds.
    pub seeds: usize,
    /// The first of these seeds.
    pub first_seed: u64,
}

impl SearchPlan {
    /// Puts what the user chose into the plan.
    pub fn with_args(mut self, args: &MlmArgs) -> SearchPlan {
        self.budget = args.queries.unwrap_or(self.budget);
        self.seeds = args.seeds.unwrap_or(self.seeds);
        self.first_seed = args.first_seed;
        if !args.methods.is_empty() {
            self.methods.retain(|method| args.methods.contains(&method.id));
        }
        if args.train.no_controls {
            self.methods.retain(|method| matches!(method.id, MethodId::Dngo | MethodId::DngoLs));
        }
        self
    }
}

/// What a method found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The method.
    pub method: Method,
    /// One curve per seed: what is reported about the best query so far.
    pub curves: Vec<Curve>,
}

impl Found {
    /// What each search ended with.
    pub fn finals(&self) -> Vec<f64> {
        self.curves.iter().filter_map(|curve| curve.values.last().copied()).collect()
    }
}

/// Searches by every method with every seed, the seeds in parallel. A search that is done is read back; a killed one resumes
/// from its journal.
///
/// `report` says what is reported about a query, e.g. the regret of its test accuracy if validation accuracy guides.
///
/// # Errors
/// Those of the searches, or a file that cannot be written.
pub fn search_all<'o>(
    plan: &SearchPlan,
    stage: &Stage,
    setting: impl Fn(&Method) -> Setting<'o> + Sync,
    oracle: impl Fn(u64) -> Box<dyn Oracle + 'o> + Sync,
    report: &(dyn Fn(&Candidate) -> f64 + Sync),
    run: &mut Run,
) -> Result<Vec<Found>> {
    let mut all = Vec::with_capacity(plan.methods.len());
    for method in &plan.methods {
        let bar = steps_bar(format!("{stage}: {}", method.id.name()), (plan.seeds * plan.budget) as u64);
        let seeds: Vec<u64> = (plan.first_seed..).take(plan.seeds).collect();
        let stage_of = |&seed: &u64| stage.clone().variant(method.id.name()).seed(seed);
        let stages: Vec<Stage> = seeds.iter().map(stage_of).collect();
        let paths: Vec<_> = stages.iter().map(|stage| run.path(&format!("{stage}.jsonl"))).collect();
        let values: Vec<Vec<f64>> = run.each(&stages, |index| {
            let seed = seeds[index];
            let header = Header::new(method.id.name(), seed, json!(method.strategy));
            let mut journal = Journal::open(&paths[index], header)?;
            let mut strategy = method.strategy.init(setting(method), seed)?;
            let trace = pace_search::run(
                &mut *strategy,
                &*oracle(seed),
                &mut journal,
                plan.budget,
                method.batch.unwrap_or(plan.batch),
                &mut |_| bar.inc(1),
            )?;
            let entries = journal.history().entries();
            anyhow::Ok(trace.follow(|id| report(&entries[id].candidate)).values)
        })?;
        let curves = values.into_iter().map(|values| Curve { values }).collect();
        bar.finish_and_clear();
        let found = Found { method: method.clone(), curves };
        let finals = Metric::over(&found.finals());
        println!(
            "{stage}: {} {:.4} +- {:.4} after {} queries ({} seeds)",
            method.id.name(),
            finals.mean,
            finals.std,
            plan.budget,
            plan.seeds
        );
        all.push(found);
    }
    Ok(all)
}

/// What the searches of an experiment are measured by: a row of the table per method.
#[derive(Clone, Debug)]
pub struct SearchRow {
    /// Unit, decimals and which numbers are better. The id and title of each row begin with these.
    pub spec: MetricSpec,
    /// The end of each id, after the name of the method, e.g. `_noisy`.
    pub suffix: &'static str,
    /// What the paper reports, per method.
    pub paper: &'static [(MethodId, f64)],
    /// Where the paper prints it.
    pub source: &'static str,
}

/// Records what each method ended with.
pub fn record_searches(found: &[Found], row: &SearchRow, run: &mut Run) {
    for found in found {
        let method = found.method.id;
        let mut spec = row.spec.clone();
        spec.id = format!("{}_{}{}", row.spec.id, method.name(), row.suffix).into();
        spec.title = format!("{}, {}", row.spec.title, method.title()).into();
        if let Some(&(_, value)) = row.paper.iter().find(|(paper, _)| *paper == method) {
            spec = spec.paper(value, row.source);
        }
        run.metric(&spec, Metric::over(&found.finals()));
    }
}

/// Adds a heading, the curves with their bands, and a table of their last values.
///
/// # Errors
/// If the plot cannot be drawn.
pub fn report_searches(page: &mut Report, heading: &str, what: &str, skip: usize, found: &[Found]) -> Result<()> {
    page.heading(heading);
    let lines: Vec<Line> = found.iter().map(|found| band_line(found.method.id.title(), &found.curves, skip)).collect();
    page.plot(line_chart(&format!("{what} after so many queries, mean and 95 % band of the mean"), &lines));
    let mut rows = vec![
        ["method", "mean", "95 % of the mean", "standard deviation", "lowest", "highest", "searches"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for found in found {
        let (finals, band) = (found.finals(), Band::of(&found.curves));
        let metric = Metric::over(&finals);
        let half = band.high.last().zip(band.mean.last()).map_or(f64::NAN, |(high, mean)| high - mean);
        let (low, high) = (
            finals.iter().copied().fold(f64::INFINITY, f64::min),
            finals.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        );
        let numbers = [metric.mean, half, metric.std, low, high].map(|number| format!("{number:.4}"));
        rows.push(
            [found.method.id.title().to_owned()].into_iter().chain(numbers).chain([finals.len().to_string()]).collect(),
        );
    }
    page.table(&rows);
    Ok(())
}
