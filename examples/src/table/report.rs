//! The page of a table: one row per system, the paper's numbers beside ours, and bars.

use anyhow::Result;
use pace_train::record::{Better, Metric, MetricSpec, Run};
use serde_json::json;

use super::gather::RowResults;
use super::row::Columns;
use crate::metrics::TRAIN_SECONDS;
use crate::report::{Bars, Report, bar_chart};

/// Records the table in the results.
pub fn record(rows: &[RowResults<'_>], columns: Columns, run: &mut Run) {
    if let Some((kind, note)) = rows.iter().find_map(RowResults::data) {
        run.data(kind, note);
    }
    run.columns(columns().to_vec());
    for (place, row) in rows.iter().enumerate() {
        let metrics = columns().iter().filter_map(|spec| {
            let metric = row.metric(&spec.id)?;
            let paper = row.row.paper_of(&spec.id);
            Some((spec.id.to_string(), json!({"mean": metric.mean, "std": metric.std, "n": metric.n, "paper": paper})))
        });
        let metrics: serde_json::Map<String, serde_json::Value> = metrics.collect();
        let seconds = row.seconds();
        let entry = json!({"title": row.row.title, "place": place, "options": row.row.options, "encoders": row.n_encoders(),
            "seconds": seconds, "metrics": metrics});
        run.encoder(row.row.name, entry);
    }
}

/// The page with its table and bars.
///
/// # Errors
/// If a plot cannot be drawn.
pub fn page(title: &str, rows: &[RowResults<'_>], columns: Columns) -> Result<Report> {
    let mut page = Report::new(&format!("{title}: all encoders"));
    page.text(
        "All rows have the same graphs, batches and surrogates, and the same epochs unless the row says otherwise. On NA and BN, \
         rows whose decoder goes step by step have a higher learning rate, by the training loss. Several encoders: mean and \
         spread over their means. The best number of a column is marked by an asterisk.",
    );
    page.table(&text(rows, columns));
    // What the systems are compared by; the other columns say what it cost, of which the time is worth a look.
    let n_first = columns().iter().take_while(|spec| spec.better != Better::Neither).count().min(2);
    for spec in columns()[..n_first].iter().chain(columns().iter().filter(|spec| spec.id == TRAIN_SECONDS.id)) {
        let shown: Vec<(&RowResults<'_>, Metric)> = rows
            .iter()
            .filter_map(|row| Some((row, row.metric(&spec.id)?)))
            .filter(|(_, m)| m.mean.is_finite())
            .collect();
        if shown.is_empty() || shown.iter().any(|(_, metric)| metric.mean < 0.0) {
            continue;
        }
        let bars = Bars {
            labels: shown.iter().map(|(row, _)| row.row.title.to_owned()).collect(),
            heights: shown.iter().map(|(_, metric)| metric.mean).collect(),
        };
        page.plot(bar_chart(&spec.heading(), &bars));
    }
    Ok(page)
}

/// The table as text; the first row is its head.
fn text(rows: &[RowResults<'_>], columns: Columns) -> Vec<Vec<String>> {
    let head = ["system", "encoders"].map(str::to_owned).into_iter();
    let mut lines = vec![head.chain(columns().iter().map(MetricSpec::heading)).collect::<Vec<String>>()];
    for row in rows {
        let mut line = vec![row.row.title.to_owned(), row.n_encoders().to_string()];
        for spec in columns() {
            line.push(row.metric(&spec.id).map_or_else(|| "-".to_owned(), |metric| cell(spec, metric, row, rows)));
        }
        lines.push(line);
    }
    lines
}

fn cell(spec: &MetricSpec, metric: Metric, row: &RowResults<'_>, rows: &[RowResults<'_>]) -> String {
    let decimals = spec.decimals;
    let others = rows.iter().filter_map(|row| row.metric(&spec.id)).map(|metric| metric.mean);
    let best = match spec.better {
        Better::Lower => Some(others.fold(f64::INFINITY, f64::min)),
        Better::Higher => Some(others.fold(f64::NEG_INFINITY, f64::max)),
        Better::Neither => None,
    };
    let star = if best == Some(metric.mean) { "*" } else { "" };
    let spread = if metric.n > 1 { format!(" ± {:.decimals$}", metric.std) } else { String::new() };
    let paper = row.row.paper_of(&spec.id).map_or_else(String::new, |paper| format!(" ({paper})"));
    format!("{:.decimals$}{star}{spread}{paper}", metric.mean)
}
