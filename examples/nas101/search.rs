//! The searches, and what of them goes into results and report.

use anyhow::Result;
use pace_examples::{Found, Report, SearchPlan, report_searches, search_all};
use pace_graph::enumerate::Nas101Space;
use pace_graph::{Dag, Vectors};
use pace_search::oracle::Table;
use pace_search::space::{Graphs, Listed, Pool};
use pace_search::strategy::Setting;
use pace_train::record::{Metric, Run};

/// What the paper reports for PACE, in percent.
const PAPER: [(&str, f64); 2] = [("dngo", 0.391), ("dngo_ls", 0.278)];

/// Searches the embedded cells by all methods.
///
/// # Errors
/// Those of the searches.
pub fn search(
    plan: &SearchPlan,
    (space, dags): (&Nas101Space, Vec<Dag>),
    vectors: Vectors,
    table: &Table,
    run: &mut Run,
    report: &mut Report,
) -> Result<()> {
    let whole = dags.len() == space.len();
    let listed = Listed::new(if whole { Vec::new() } else { dags });
    let graphs: &dyn Graphs = if whole { space } else { &listed };
    let pool = Pool::new(graphs, vectors)?;
    let setting = Setting { space: &pool, embedded: Some(&pool), mutate: Some(space) };
    // Every query was answered by the table, so the table has it.
    let regret = |dag: &Dag| 100.0 * table.regret(dag).unwrap_or(f64::NAN);
    let found = search_all(plan, "search", |_| setting, |_| Box::new(table), &|candidate| regret(&candidate.dag), run)?;
    for Found { method, curves } in &found {
        let finals: Vec<f64> = curves.iter().filter_map(|curve| curve.values.last().copied()).collect();
        let paper = PAPER.iter().find(|(name, _)| *name == method.name).map(|&(_, regret)| regret);
        run.metric(&format!("regret_{}", method.name), Metric { paper, ..Metric::over(&finals) });
    }
    let text = format!("Test regret, %, against {:.4} %", 100.0 * table.best());
    report_searches(report, "Search", &text, 15, &found)
}
