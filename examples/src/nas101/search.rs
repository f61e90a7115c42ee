//! The searches, their rows of the table and their part of the report.

use anyhow::Result;
use pace_graph::enumerate::Nas101Space;
use pace_graph::{Dag, DagSpec, raw_features};
use pace_search::Candidate;
use pace_search::oracle::Table;
use pace_search::space::{Graphs, Listed, Pool};
use pace_search::strategy::Setting;
use pace_train::record::{Run, Stage};

use super::metrics::REGRET;
use crate::mlm::{Embedded, Method, SearchPlan, VectorsOf, record_searches, report_searches, search_all};
use crate::report::Report;

/// Searches the embedded cells by all methods.
///
/// # Errors
/// Those of the searches.
pub fn search(
    plan: &SearchPlan,
    (space, dags): (&Nas101Space, Vec<Dag>),
    embedded: Embedded,
    table: &Table,
    run: &mut Run,
    page: &mut Report,
) -> Result<()> {
    let (untrained, raw) = run.stage(&Stage::new("controls"), |_| {
        anyhow::Ok((embedded.untrained.vectors(&dags), raw_features(&dags, &DagSpec::nas101())))
    })?;
    let whole = dags.len() == space.len();
    let listed = Listed::new(if whole { Vec::new() } else { dags });
    let graphs: &dyn Graphs = if whole { space } else { &listed };
    let [trained, untrained, raw] = [embedded.vectors, untrained, raw].map(|vectors| Pool::new(graphs, vectors));
    let (trained, untrained, raw) = (trained?, untrained?, raw?);
    let setting = |method: &Method| {
        let pool = match method.id.vectors() {
            Some(VectorsOf::Untrained) => &untrained,
            Some(VectorsOf::Raw) => &raw,
            Some(VectorsOf::Trained) | None => &trained,
        };
        Setting { space: pool, embedded: Some(pool), mutate: Some(space), known: None }
    };
    // Every query was answered by the table, so the table has it.
    let regret = |dag: &Dag| 100.0 * table.regret(dag).unwrap_or(f64::NAN);
    let (stage, report_regret) = (Stage::new("search"), |candidate: &Candidate| regret(&candidate.dag));
    let found = search_all(plan, &stage, setting, |_| Box::new(table), &report_regret, run)?;
    record_searches(&found, &REGRET, run);
    let text = format!("Test regret, %, against {:.4} %", 100.0 * table.best());
    report_searches(page, "Search", &text, 15, &found)
}
