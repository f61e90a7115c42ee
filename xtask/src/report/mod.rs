//! `cargo xtask report <run>`: turns the results of a run into a page of docs/results.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::root::workspace_root;

/// Which run.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder of a finished run, e.g. runs/na-pace-1
    run: PathBuf,
}

/// What a page needs of `results.json`.
#[derive(Debug, Deserialize)]
struct Results {
    dataset: String,
    encoder: String,
    data: String,
    data_note: String,
    commit: Option<String>,
    seed: u64,
    threads: usize,
    seconds: BTreeMap<String, f64>,
    metrics: BTreeMap<String, Metric>,
}

#[derive(Debug, Deserialize)]
struct Metric {
    /// Not a number is null in JSON.
    mean: Option<f64>,
    std: Option<f64>,
    n: usize,
    paper: Option<f64>,
}

/// Title and remarks of a dataset's page, and what its metrics are called in words.
struct Page {
    title: &'static str,
    remarks: &'static str,
    rows: &'static [(&'static str, &'static str)],
}

const VAE_ROWS: &[(&str, &str)] = &[
    ("rmse", "RMSE, our sparse GP on the latent vectors"),
    ("pearson", "Pearson's r, the same"),
    ("spearman", "Spearman's rho, the same"),
    ("kendall", "Kendall's tau, the same"),
    ("rmse_published", "RMSE, the authors' GP on the same vectors"),
    ("pearson_published", "Pearson's r, the same"),
    ("rmse_raw", "RMSE, our GP on raw features, no encoder"),
    ("pearson_raw", "Pearson's r, the same"),
    ("rmse_untrained", "RMSE, our GP on an untrained encoder"),
    ("pearson_untrained", "Pearson's r, the same"),
    ("recon_accuracy", "reconstruction, %, up to isomorphism"),
    ("recon_indexed", "reconstruction, %, index by index"),
    ("recon_greedy", "reconstruction, %, greedy decoding"),
    ("valid", "valid, %, constrained decoding"),
    ("unique", "unique, %, isomorphism classes, one decoding per vector of the prior"),
    ("unique_of_ten", "unique, %, isomorphism classes, ten decodings per vector"),
    ("novel", "novel, %"),
    ("valid_published", "valid, %, decoded as the authors' code does"),
    ("unique_published", "unique, %, the authors' string rule, the same"),
    ("novel_published", "novel, %, the same"),
    ("bo_best", "best score found by Bayesian optimisation in the latent space"),
    ("bo_random_best", "the same by vectors drawn uniformly from the same box"),
    ("bo_start_best", "best score among the graphs that a search starts from"),
    ("bo_best_regret", "regret of Bayesian optimisation against the proven optimum"),
    ("bo_optimum_reached", "searches that reach the proven optimum"),
    ("bic_optimum", "best BIC of all networks (dynamic programming)"),
    ("bic_largest_gap", "largest difference of recomputed scores"),
    ("train_graphs_per_s", "training, graphs per second"),
    ("encode_graphs_per_s", "encoding, graphs per second"),
];

const NAS101_ROWS: &[(&str, &str)] = &[
    ("regret_dngo", "test regret, %, DNGO on PACE vectors"),
    ("regret_dngo_ls", "test regret, %, DNGO-LS on PACE vectors"),
    ("regret_random", "test regret, %, random search"),
    ("regret_evolution", "test regret, %, regularised evolution"),
    ("regret_local", "test regret, %, local mutation search"),
    ("matched_rows", "rows of the table matched with a cell of the space"),
    ("renumbered_found", "cells renumbered at random and found again by their canonical form"),
    ("best_test_accuracy", "best test accuracy in the table, %"),
    ("mean_test_accuracy", "mean test accuracy in the table, %"),
    ("train_graphs_per_s", "pre-training, graphs per second"),
    ("encode_graphs_per_s", "encoding, graphs per second"),
];

const NAS301_ROWS: &[(&str, &str)] = &[
    ("best_dngo", "accuracy, %, DNGO on PACE vectors"),
    ("best_dngo_ls", "accuracy, %, DNGO-LS on PACE vectors"),
    ("best_random", "accuracy, %, random search"),
    ("best_evolution", "accuracy, %, regularised evolution"),
    ("best_local", "accuracy, %, local mutation search"),
    ("best_dngo_noisy", "accuracy, %, noise on, DNGO on PACE vectors"),
    ("best_dngo_ls_noisy", "accuracy, %, noise on, DNGO-LS on PACE vectors"),
    ("best_random_noisy", "accuracy, %, noise on, random search"),
    ("best_evolution_noisy", "accuracy, %, noise on, regularised evolution"),
    ("best_local_noisy", "accuracy, %, noise on, local mutation search"),
    ("train_graphs_per_s", "pre-training, graphs per second"),
    ("encode_graphs_per_s", "encoding, graphs per second"),
];

fn page(dataset: &str) -> Option<Page> {
    match dataset {
        "na" => Some(Page { title: "NA: ENAS architectures", remarks: include_str!("na.md"), rows: VAE_ROWS }),
        "bn" => Some(Page { title: "BN: Bayesian networks", remarks: include_str!("bn.md"), rows: VAE_ROWS }),
        "nas101" => Some(Page { title: "NAS-Bench-101", remarks: include_str!("nas101.md"), rows: NAS101_ROWS }),
        "nas301" => Some(Page { title: "NAS-Bench-301", remarks: include_str!("nas301.md"), rows: NAS301_ROWS }),
        _ => None,
    }
}

/// Writes the page.
pub fn run(args: &Args) -> Result<()> {
    let path = args.run.join("results.json");
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}; finish the run first", path.display()))?;
    let results: Results =
        serde_json::from_str(&text).with_context(|| format!("{} is not the results of a run", path.display()))?;
    let Some(page) = page(&results.dataset) else {
        bail!("there is no page for the dataset '{}' yet", results.dataset)
    };
    let target = workspace_root().join("docs/results").join(format!("{}.md", results.dataset));
    fs::write(&target, render(&results, &page)).with_context(|| format!("cannot write {}", target.display()))?;
    println!("{}", target.display());
    Ok(())
}

fn render(results: &Results, page: &Page) -> String {
    let mut text = format!("# {}\n\n", page.title);
    let commit = results.commit.as_deref().map_or("unknown", |commit| &commit[..commit.len().min(12)]);
    let _ = writeln!(
        text,
        "Made by `cargo xtask reproduce {}` and `cargo xtask report`; do not edit. Encoder {}, seed {}, {} threads, commit {commit}, \
         {} data: {}.\n",
        results.dataset, results.encoder, results.seed, results.threads, results.data, results.data_note
    );
    text.push_str("| metric | ours | std | n | paper |\n|---|---:|---:|---:|---:|\n");
    for (name, words) in page.rows {
        let Some(metric) = results.metrics.get(*name) else { continue };
        // Nobody wants fractions of a graph per second.
        let decimals = if name.ends_with("_per_s") { 0 } else { 4 };
        let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format_number(value, decimals));
        let (mean, std, paper) = (number(metric.mean), number(metric.std), number(metric.paper));
        let _ = writeln!(text, "| {words} | {mean} | {std} | {} | {paper} |", metric.n);
    }
    let _ = writeln!(text, "\n{}", page.remarks.trim_end());
    let total: f64 = results.seconds.values().sum();
    let _ = writeln!(text, "\n## Seconds per stage\n\n{total:.0} s in all.\n\n| stage | seconds |\n|---|---:|");
    for (stage, seconds) in stage_groups(&results.seconds) {
        let _ = writeln!(text, "| {stage} | {seconds:.1} |");
    }
    text
}

/// Numbers that the decimals would round to nothing are written with an exponent.
fn format_number(value: f64, decimals: usize) -> String {
    match value.abs() {
        tiny if tiny > 0.0 && tiny < 1e-4 => format!("{value:.1e}"),
        _ => format!("{value:.decimals$}"),
    }
}

/// Stages that differ in a trailing number belong together.
fn stage_groups(seconds: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    let mut groups = BTreeMap::new();
    for (stage, seconds) in seconds {
        let name = stage.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
        *groups.entry(name.to_owned()).or_insert(0.0) += seconds;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_ours_and_the_papers_numbers() {
        let text = r#"{"dataset": "na", "encoder": "pace", "data": "real", "data_note": "19020 graphs", "commit": null,
            "seed": 1, "threads": 2, "config": {}, "seconds": {"gp-1-1": 1.5, "gp-1-2": 2.0, "train-1": 10.0},
            "metrics": {"rmse": {"mean": 0.19, "std": 0.002, "n": 20, "paper": 0.254},
                        "valid": {"mean": null, "std": 0.0, "n": 1, "paper": null}}}"#;
        let results: Results = serde_json::from_str(text).unwrap();
        let page = render(&results, &page("na").unwrap());
        assert!(
            page.contains("| RMSE, our sparse GP on the latent vectors | 0.1900 | 0.0020 | 20 | 0.2540 |"),
            "{page}"
        );
        assert!(page.contains("| valid, %, constrained decoding | - | 0.0000 | 1 | - |"));
        assert!(page.contains("| gp | 3.5 |") && page.contains("14 s in all"));
    }

    #[test]
    fn an_unfinished_run_and_an_unknown_dataset_are_refused() {
        let missing = run(&Args { run: PathBuf::from("no-such-run") }).unwrap_err();
        assert!(missing.to_string().contains("finish the run first"));
        assert!(page("code2").is_none());
    }
}
