//! The tables that every report has, as rows of text; the first row is the head.

use pace_train::record::{Better, Metric, MetricSpec, Run};

/// The table of results.
pub fn metric_rows(run: &Run) -> Vec<Vec<String>> {
    let mut rows = vec![["metric", "better", "mean", "std", "n", "paper"].map(str::to_owned).to_vec()];
    rows.extend(run.table().map(|(spec, metric)| row(spec, metric)));
    rows
}

fn row(spec: &MetricSpec, metric: &Metric) -> Vec<String> {
    let number = |value: f64| format_number(value, spec.decimals);
    let better = match spec.better {
        Better::Lower => "lower",
        Better::Higher => "higher",
        Better::Neither => "",
    };
    let paper = spec.paper.map_or_else(String::new, |paper| format!("{} ({})", paper.value, paper.source));
    vec![spec.heading(), better.to_owned(), number(metric.mean), number(metric.std), metric.n.to_string(), paper]
}

/// A number that the decimals would round to nothing is written with an exponent.
fn format_number(value: f64, decimals: usize) -> String {
    let tiny = value != 0.0 && value.abs() < 10_f64.powi(-(decimals as i32)) / 2.0;
    if tiny { format!("{value:.1e}") } else { format!("{value:.decimals$}") }
}

/// What each stage took, in seconds.
pub fn stage_seconds(run: &Run) -> Vec<(String, f64)> {
    run.stages().iter().map(|timing| (timing.stage.to_string(), timing.seconds)).collect()
}
