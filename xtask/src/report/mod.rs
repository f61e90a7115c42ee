//! `cargo xtask report <run>`: turns the results of a run into a page of docs/results.
//!
//! `results.json` carries titles, units and the paper's numbers; this file only prints them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::root::workspace_root;

/// The `format` of `results.json` that this version reads.
const FORMAT: u32 = 2;

/// Which run.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder of a finished run, e.g. runs/na-pace-1
    run: PathBuf,
}

/// What tells results of different versions apart. The first version did not say.
#[derive(Debug, Deserialize)]
struct Version {
    #[serde(default)]
    format: u32,
}

/// What a page needs of `results.json`.
#[derive(Debug, Deserialize)]
struct Results {
    title: String,
    dataset: String,
    encoder: String,
    data: String,
    data_note: String,
    commit: Option<String>,
    seed: u64,
    threads: usize,
    stages: Vec<Stage>,
    table: Vec<MetricSpec>,
    metrics: BTreeMap<String, Metric>,
}

/// A stage and what it took.
#[derive(Debug, Deserialize)]
struct Stage {
    kind: String,
    variant: Option<String>,
    seconds: f64,
}

/// What a number means.
#[derive(Debug, Deserialize)]
struct MetricSpec {
    id: String,
    title: String,
    unit: String,
    decimals: usize,
    better: String,
    paper: Option<Paper>,
}

/// A number of the paper.
#[derive(Debug, Deserialize)]
struct Paper {
    value: f64,
    source: String,
}

#[derive(Debug, Deserialize)]
struct Metric {
    /// `null` in JSON if it is not a number.
    mean: Option<f64>,
    std: Option<f64>,
    n: usize,
}

impl Results {
    fn parse(text: &str) -> Result<Results> {
        let Version { format } = serde_json::from_str(text)?;
        if format != FORMAT {
            bail!(
                "it was written by another version of the programs (format {format}, this one reads {FORMAT}); run \
                 `cargo xtask reproduce` again"
            );
        }
        Ok(serde_json::from_str(text)?)
    }
}

/// What a page says about its numbers; empty if nobody has written it yet.
fn remarks(dataset: &str) -> &'static str {
    match dataset {
        "na" => include_str!("na.md"),
        "bn" => include_str!("bn.md"),
        "nas101" => include_str!("nas101.md"),
        "nas301" => include_str!("nas301.md"),
        _ => "",
    }
}

/// Writes the page.
pub fn run(args: &Args) -> Result<()> {
    let path = args.run.join("results.json");
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}; finish the run first", path.display()))?;
    let results = Results::parse(&text).with_context(|| format!("cannot make a page of {}", path.display()))?;
    let target = workspace_root().join("docs/results").join(format!("{}.md", results.dataset));
    fs::write(&target, render(&results)).with_context(|| format!("cannot write {}", target.display()))?;
    println!("{}", target.display());
    Ok(())
}

fn render(results: &Results) -> String {
    let mut text = format!("# {}\n\n", results.title);
    let commit = results.commit.as_deref().map_or("unknown", |commit| &commit[..commit.len().min(12)]);
    let _ = writeln!(
        text,
        "Made by `cargo xtask reproduce {}` and `cargo xtask report`; do not edit. Encoder {}, seed {}, {} threads, commit {commit}, \
         {} data: {}.\n",
        results.dataset, results.encoder, results.seed, results.threads, results.data, results.data_note
    );
    text.push_str("| metric | better | ours | std | n | paper |\n|---|---|---:|---:|---:|---:|\n");
    for spec in &results.table {
        if let Some(metric) = results.metrics.get(&spec.id) {
            let _ = writeln!(text, "{}", row(spec, metric));
        }
    }
    let _ = writeln!(text, "\n{}", remarks(&results.dataset).trim_end());
    let total: f64 = results.stages.iter().map(|stage| stage.seconds).sum();
    let _ = writeln!(text, "\n## Seconds per stage\n\n{total:.0} s in all.\n\n| stage | seconds |\n|---|---:|");
    for (stage, seconds) in stage_groups(&results.stages) {
        let _ = writeln!(text, "| {stage} | {seconds:.1} |");
    }
    text
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
fn format_number(value: f64, decimals: usize) -> String {
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
            "data_note": "19020 graphs", "commit": null, "seed": 1, "threads": 2, "config": {},
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
    }

    #[test]
    fn an_unfinished_run_and_an_old_one_are_refused() {
        let missing = run(&Args { run: PathBuf::from("no-such-run") }).unwrap_err();
        assert!(missing.to_string().contains("finish the run first"));
        let old = Results::parse(r#"{"dataset": "na", "metrics": {}}"#).unwrap_err();
        assert!(old.to_string().contains("another version of the programs"), "{old}");
    }
}
