//! The table of a page with several encoders: a row per system, a column per number.

use std::fmt::Write;

use super::page::format_number;
use super::results::{Cell, EncoderRow, MetricSpec, Results};

/// The table. The best of each column is bold; the paper's number stands in brackets.
pub fn table(results: &Results) -> String {
    let mut rows: Vec<&EncoderRow> = results.encoders.values().collect();
    rows.sort_by_key(|row| row.place);
    let (mut head, mut line) = ("| system | encoders |".to_owned(), "|---|---:|".to_owned());
    for spec in &results.table {
        let comma = if spec.unit.is_empty() { "" } else { ", " };
        let _ = write!(head, " {}{comma}{} |", spec.title, spec.unit);
        line.push_str("---:|");
    }
    let mut text = format!("{head} seconds |\n{line}---:|\n");
    for row in &rows {
        let seconds = row.seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.0}"));
        let encoders = if row.seconds.is_some() { row.encoders.to_string() } else { "-".to_owned() };
        let cells: String = results.table.iter().map(|spec| format!(" {} |", cell(spec, row, &rows))).collect();
        let _ = writeln!(text, "| {} | {encoders} |{cells} {seconds} |", row.title);
    }
    text
}

fn cell(spec: &MetricSpec, row: &EncoderRow, rows: &[&EncoderRow]) -> String {
    let Some(&Cell { mean: Some(mean), std, n, paper }) = row.metrics.get(&spec.id) else { return "-".to_owned() };
    let means = rows.iter().filter_map(|row| row.metrics.get(&spec.id)?.mean);
    let best = match spec.better.as_str() {
        "lower" => means.reduce(f64::min),
        "higher" => means.reduce(f64::max),
        _ => None,
    };
    let number = format_number(mean, spec.decimals);
    let number = if best == Some(mean) { format!("**{number}**") } else { number };
    let spread =
        std.filter(|_| n > 1).map_or_else(String::new, |std| format!(" ± {}", format_number(std, spec.decimals)));
    let paper = paper.map_or_else(String::new, |paper| format!(" ({paper})"));
    format!("{number}{spread}{paper}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_bold_and_the_paper_stands_beside() {
        let text = r#"{"format": 2, "title": "NA", "dataset": "na", "encoder": "all", "data": "real", "data_note": "", "commit": null,
            "seed": 1, "threads": 2, "stages": [], "metrics": {}, "table": [{"id": "rmse", "title": "RMSE", "unit": "", "decimals": 3,
            "better": "lower", "paper": null}], "encoders": {
            "a": {"title": "A", "place": 1, "encoders": 1, "seconds": 2.5, "metrics": {"rmse": {"mean": 0.5, "std": 0, "n": 1, "paper": 0.4}}},
            "b": {"title": "B", "place": 0, "encoders": 3, "seconds": 7, "metrics": {"rmse": {"mean": 0.25, "std": 0.01, "n": 30, "paper": null}}},
            "raw": {"title": "raw", "place": 2, "encoders": 3, "seconds": null, "metrics": {}}}}"#;
        let results = Results::parse(text).unwrap();
        let expected = "| system | encoders | RMSE | seconds |\n|---|---:|---:|---:|\n\
            | B | 3 | **0.250** ± 0.010 | 7 |\n| A | 1 | 0.500 (0.4) | 2 |\n| raw | - | - | - |\n";
        assert_eq!(table(&results), expected);
        assert_eq!((results.page().as_str(), results.seconds()), ("na-encoders", 9.5));
    }
}
