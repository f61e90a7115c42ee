//! A page of docs/results: a header, the table, remarks by people, seconds.

use std::fmt::Write;

use super::encoders;
use super::provenance::Provenance;
use super::results::{Metric, MetricSpec, Results, Stage};

/// What people say about the numbers of a page; empty if nobody has written it yet. What stands before the first heading goes
/// to the top of the page.
pub fn remarks(dataset: &str) -> &'static str {
    match dataset {
        "na" => include_str!("na.md"),
        "bn" => include_str!("bn.md"),
        "nas101" => include_str!("nas101.md"),
        "nas301" => include_str!("nas301.md"),
        "na-encoders" => include_str!("na-encoders.md"),
        "bn-encoders" => include_str!("bn-encoders.md"),
        "nas301-encoders" => include_str!("nas301-encoders.md"),
        "speed-encoders" => include_str!("speed-encoders.md"),
        _ => "",
    }
}

/// The text of the page.
pub fn render(results: &Results) -> String {
    let (first, remarks) = parts(remarks(&results.page()));
    let mut text = format!("# {}\n\n", results.title);
    if !first.is_empty() {
        let _ = writeln!(text, "{first}\n");
    }
    let _ = writeln!(text, "{}\n", Provenance::of(results));
    if !results.encoders.is_empty() {
        text.push_str(&encoders::table(results));
        let _ = writeln!(text, "\n{remarks}\n\n{:.0}{IN_ALL}", results.seconds());
        return text;
    }
    text.push_str("| metric | better | ours | std | n | paper |\n|---|---|---:|---:|---:|---:|\n");
    for spec in &results.table {
        if let Some(metric) = results.metrics.get(&spec.id) {
            let _ = writeln!(text, "{}", row(spec, metric));
        }
    }
    let _ = writeln!(text, "\n{remarks}");
    let total = results.seconds();
    let _ = writeln!(text, "\n{STAGES}{total:.0}{IN_ALL}\n\n| stage | seconds |\n|---|---:|");
    for (stage, seconds) in stage_groups(&results.stages) {
        let _ = writeln!(text, "| {stage} | {seconds:.1} |");
    }
    text
}

/// Ends the line with the seconds of the whole run.
const IN_ALL: &str = " s in all.";

/// Starts the seconds of a page that has stages.
const STAGES: &str = "## Seconds per stage\n\n";

/// The seconds that a page names.
pub fn seconds(page: &str) -> Option<f64> {
    page.lines().find_map(|line| line.strip_suffix(IN_ALL)?.parse().ok())
}

/// Whether a page carries the remarks as they stand.
pub fn carries(page: &str, remarks: &str) -> bool {
    let (first, rest) = parts(remarks);
    page.contains(first) && page.contains(rest)
}

/// The page with other remarks; `None` if it is none of [`render`]'s. Its parts are: title, first line, provenance, table, remarks,
/// seconds.
pub fn with_remarks(page: &str, remarks: &str) -> Option<String> {
    let (first, rest) = parts(remarks);
    let title = page.lines().next().filter(|line| line.starts_with("# "))?;
    let numbers = page.find("\nMade by ")? + 1;
    let table = numbers + page[numbers..].find("\n| ")? + 1;
    let lines = page[table..].split_inclusive('\n').take_while(|line| line.starts_with('|'));
    let table_end = table + lines.map(str::len).sum::<usize>();
    let below = &page[table_end..];
    let end = below.find(STAGES).or_else(|| {
        let all = below.find(IN_ALL)?;
        Some(below[..all].rfind('\n')? + 1)
    })?;
    let first = if first.is_empty() { String::new() } else { format!("{first}\n\n") };
    Some(format!("{title}\n\n{first}{}\n{rest}\n\n{}", &page[numbers..table_end], &below[end..]))
}

/// What goes to the top of the page, and what goes below the table.
fn parts(remarks: &str) -> (&str, &str) {
    let is_heading = |line: &&str| line.starts_with("## ");
    let above: usize = remarks.split_inclusive('\n').take_while(|line| !is_heading(line)).map(str::len).sum();
    let (above, below) = remarks.split_at(above);
    (above.trim(), below.trim())
}

fn row(spec: &MetricSpec, metric: &Metric) -> String {
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format_number(value, spec.decimals));
    let comma = if spec.unit.is_empty() { "" } else { ", " };
    let better = if spec.better == "neither" { "" } else { &spec.better };
    let paper = spec.paper.as_ref();
    let paper = paper.map_or_else(|| "-".to_owned(), |paper| format!("{} ({})", paper.value, paper.source));
    let (mean, std, n) = (number(metric.mean), number(metric.std), metric.n);
    format!("| {}{comma}{} | {better} | {mean} | {std} | {n} | {paper} |", spec.title, spec.unit)
}

/// A number that the decimals would round to nothing is written with an exponent.
pub(super) fn format_number(value: f64, decimals: usize) -> String {
    // A double has no more, and a precision beyond 16 bits is a panic of the formatter.
    let decimals = decimals.min(17);
    let tiny = value != 0.0 && value.abs() < 10_f64.powi(-(decimals as i32)) / 2.0;
    if tiny { format!("{value:.1e}") } else { format!("{value:.decimals$}") }
}

/// Seconds by kind and variant: stages that differ in their seeds belong together.
fn stage_groups(stages: &[Stage]) -> Vec<(String, f64)> {
    let mut groups: Vec<(String, f64)> = Vec::new();
    for Stage { kind, variant, seconds } in stages {
        let name = variant.as_ref().map_or_else(|| kind.clone(), |variant| format!("{kind}, {variant}"));
        match groups.iter_mut().find(|(group, _)| *group == name) {
            Some((_, total)) => *total += seconds,
            None => groups.push((name, *seconds)),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_ours_and_the_papers_numbers() {
        let text = r#"{"format": 2, "title": "NA: ENAS architectures", "dataset": "na", "encoder": "pace", "data": "real",
            "data_note": "19020 graphs", "commit": "0123456789abcdef", "dirty": false, "seed": 1, "threads": 2, "config": {},
            "stages": [{"kind": "train", "variant": null, "seeds": [1], "seconds": 10.0},
                       {"kind": "gp", "variant": null, "seeds": [1, 1], "seconds": 1.5},
                       {"kind": "gp", "variant": "published", "seeds": [1, 1], "seconds": 4.0},
                       {"kind": "gp", "variant": null, "seeds": [1, 2], "seconds": 2.0}],
            "table": [{"id": "rmse", "title": "RMSE of the GP", "unit": "", "decimals": 4, "better": "lower",
                       "paper": {"value": 0.254, "source": "Table 1"}},
                      {"id": "valid", "title": "valid", "unit": "%", "decimals": 3, "better": "higher", "paper": null}],
            "metrics": {"rmse": {"mean": 0.19, "std": 0.002, "n": 20}, "valid": {"mean": null, "std": 0.0, "n": 1}}}"#;
        let page = render(&Results::parse(text).unwrap());
        assert!(page.starts_with("# NA: ENAS architectures\n"), "{page}");
        assert!(page.contains("| RMSE of the GP | lower | 0.1900 | 0.0020 | 20 | 0.254 (Table 1) |"), "{page}");
        assert!(page.contains("| valid, % | higher | - | 0.000 | 1 | - |"), "{page}");
        assert!(page.contains("| train | 10.0 |\n| gp | 3.5 |\n| gp, published | 4.0 |"), "{page}");
        assert!(page.contains("18 s in all"), "{page}");
        assert_eq!(seconds(&page), Some(18.0));
        assert!(carries(&page, remarks("na")) && !carries(&page, remarks("bn")));
        let other = with_remarks(&page, remarks("bn")).unwrap();
        assert!(carries(&other, remarks("bn")) && !carries(&other, remarks("na")));
        assert_eq!(with_remarks(&other, remarks("na")).unwrap(), page, "nothing else changes");
    }

    /// Both ended the program: the decimals were found by fuzzing, the commit by reading.
    #[test]
    fn odd_commits_and_decimals_make_a_page_too() {
        let text = r#"{"format": 2, "title": "NA", "dataset": "na", "encoder": "pace", "data": "real", "data_note": "", "commit": "0123456789a\u00e9",
            "seed": 1, "threads": 2, "stages": [], "metrics": {"rmse": {"mean": 0.25, "std": null, "n": 1}}, "table": [{"id": "rmse",
            "title": "RMSE", "unit": "", "decimals": 18446744073709551615, "better": "lower", "paper": null}]}"#;
        let page = render(&Results::parse(text).unwrap());
        assert!(page.contains("commit 0123456789a\u{e9} "), "{page}");
        assert!(page.contains("| RMSE | lower | 0.25000000000000000 | - | 1 | - |"), "{page}");
    }

    #[test]
    fn remarks_before_the_first_heading_go_to_the_top() {
        assert_eq!(parts("It loses.\n\n## Why\n- a ## b\n"), ("It loses.", "## Why\n- a ## b"));
        assert_eq!(parts("## Why\n- a\n\n## More\n"), ("", "## Why\n- a\n\n## More"));
        assert_eq!(parts(""), ("", ""));
        assert!(carries("# T\n\nIt loses.\n\n| a |\n\n## Why\n- a\n", "It loses.\n\n## Why\n- a\n"));
    }
}
