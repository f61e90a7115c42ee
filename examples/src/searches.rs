//! The same search by several methods over many seeds.

use anyhow::Result;
use pace_search::oracle::Oracle;
use pace_search::strategy::{Setting, StrategyConfig};
use pace_search::{Band, Candidate, Curve, Header, Journal};
use pace_train::record::{Metric, Run};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::args::MlmArgs;
use crate::progress::steps_bar;
use crate::report::{Line, Report, line_chart};

/// A way to search, under the name it has in results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// E.g. `dngo`.
    pub name: String,
    /// For people.
    pub title: String,
    /// The strategy.
    pub strategy: StrategyConfig,
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
    /// Searches per method, with seeds of their own.
    pub seeds: usize,
}

impl SearchPlan {
    /// Applies what the user chose.
    pub fn with_args(mut self, args: &MlmArgs) -> SearchPlan {
        self.budget = args.queries.unwrap_or(self.budget);
        self.seeds = args.seeds.unwrap_or(self.seeds);
        if !args.methods.is_empty() {
            self.methods.retain(|method| args.methods.contains(&method.name));
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

/// Searches by every method with every seed. A search that is done is read back; one that was killed goes on with its
/// journal.
///
/// `report` says what is reported about a query, e.g. the regret of its test accuracy where validation accuracy guides.
///
/// # Errors
/// Those of the searches, or a file that cannot be written.
pub fn search_all<'o>(
    plan: &SearchPlan,
    stage: &str,
    setting: impl Fn(&Method) -> Setting<'o>,
    oracle: impl Fn(u64) -> Box<dyn Oracle + 'o>,
    report: &dyn Fn(&Candidate) -> f64,
    run: &mut Run,
) -> Result<Vec<Found>> {
    let mut all = Vec::with_capacity(plan.methods.len());
    for method in &plan.methods {
        let bar = steps_bar(format!("{stage}: {}", method.name), (plan.seeds * plan.budget) as u64);
        let mut curves = Vec::with_capacity(plan.seeds);
        for seed in 1..=plan.seeds as u64 {
            let name = format!("{stage}-{}-{seed}", method.name);
            let values: Vec<f64> = run.once(&name, |run| {
                let path = run.path(&format!("{name}.jsonl"));
                let header = Header::new(&method.name, seed, json!(method.strategy));
                let mut journal = Journal::open(&path, header)?;
                let mut strategy = method.strategy.init(setting(method), seed)?;
                let trace = pace_search::run(
                    &mut *strategy,
                    &*oracle(seed),
                    &mut journal,
                    plan.budget,
                    plan.batch,
                    &mut |_| bar.inc(1),
                )?;
                let entries = journal.history().entries();
                anyhow::Ok(trace.follow(|id| report(&entries[id].candidate)).values)
            })?;
            bar.set_position(seed * plan.budget as u64);
            curves.push(Curve { values });
        }
        bar.finish_and_clear();
        let found = Found { method: method.clone(), curves };
        let finals = Metric::over(&found.finals());
        println!(
            "{stage}: {} {:.4} +- {:.4} after {} queries ({} seeds)",
            method.name, finals.mean, finals.std, plan.budget, plan.seeds
        );
        all.push(found);
    }
    Ok(all)
}

/// A heading, the curves with their bands, and a table of where they end.
///
/// # Errors
/// If the plot cannot be drawn.
pub fn report_searches(page: &mut Report, heading: &str, what: &str, skip: usize, found: &[Found]) -> Result<()> {
    page.heading(heading);
    let lines: Vec<Line> = found.iter().map(|found| band_line(&found.method.title, &found.curves, skip)).collect();
    page.svg(&line_chart(&format!("{what} after so many queries, mean and 95 % band of the mean"), &lines)?);
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
        rows.push([found.method.title.clone()].into_iter().chain(numbers).chain([finals.len().to_string()]).collect());
    }
    page.table(&rows);
    Ok(())
}

/// The mean of curves with its 95 % band, from query `skip` on.
pub(crate) fn band_line(name: &str, curves: &[Curve], skip: usize) -> Line {
    let band = Band::of(curves);
    let queries = || (skip..band.mean.len()).map(|query| ((query + 1) as f64, query));
    Line {
        name: name.to_owned(),
        points: queries().map(|(x, query)| (x, band.mean[query])).collect(),
        band: queries().map(|(x, query)| (x, band.low[query], band.high[query])).collect(),
    }
}
