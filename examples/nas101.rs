//! NAS-Bench-101: the whole search space, counted out, canonicalised and matched with the table of accuracies.
//!
//! `cargo xtask reproduce nas101` runs this. Stages: *enumerate* all cells; *renumber* every cell at random and find it
//! again by its canonical form (Theorem 3.1 on the whole space); *table*: read the accuracies and match every row.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use clap::Parser;
use pace_examples::{Bars, Report, RunArgs, bar_chart, rows_bar, rows_seen, steps_bar};
use pace_graph::dataset::{DataDir, Nas101Accuracy, Nas101Cell, Nas101Table, Nas101TfRecord};
use pace_graph::enumerate::Nas101Space;
use pace_graph::structure::{MaskRule, mask};
use pace_graph::{CANON_ID, DagSpec, Sequence, canonicalise, seq2dag};
use pace_train::record::{DataKind, Metric, Run, RunId};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::{IntoParallelIterator, ParallelIterator};
use serde::Serialize;
use serde_json::json;

const TABLE: &str = "nasbench101.csv";
const RECORDS: &str = "nasbench_only108.tfrecord";
const EPOCHS: u32 = 108;

/// Counts, matches and reports NAS-Bench-101
#[derive(Debug, Parser)]
struct Args {
    #[command(flatten)]
    run: RunArgs,
}

/// How much of the space each stage takes.
#[derive(Clone, Copy, Debug, Serialize)]
struct Plan {
    /// Every how many-th cell is renumbered and looked up.
    renumber_every: usize,
    /// Recompute the benchmark's own hash of every row.
    check_hashes: bool,
}

fn paper() -> Plan {
    Plan { renumber_every: 1, check_hashes: true }
}

fn smoke() -> Plan {
    Plan { renumber_every: 50, check_hashes: false }
}

fn main() -> Result<()> {
    let args = Args::parse().run;
    let plan = if args.smoke { smoke() } else { paper() };
    let threads = args.init_threads()?;
    let config = json!({"plan": plan, "canon": CANON_ID});
    let id = RunId::new("nas101", "none", args.seed, threads, config);
    let mut run = Run::start(&args.out_dir("nas101", "none")?, id)?;
    let mut report = Report::new("NAS-Bench-101, the search space");

    let space = run.stage("enumerate", |_| anyhow::Ok(Nas101Space::enumerate()))?;
    println!("{} cells, counted out in {:.1} s", space.len(), run.seconds("enumerate"));
    report_sizes(&space, &mut run, &mut report)?;

    let indices: Vec<usize> = (0..space.len()).step_by(plan.renumber_every).collect();
    let methods = run.stage("renumber", |_| renumber(&space, &indices, args.seed))?;
    let rate = indices.len() as f64 / run.seconds("renumber");
    println!("{} cells renumbered at random and found again, {rate:.0} per second", indices.len());
    run.metric("renumbered_found", Metric::once(indices.len() as f64));
    run.metric("canonical_graphs_per_s", Metric::once(rate));
    report_methods(&methods, &mut report)?;

    let data = DataDir::resolve(args.data.as_deref());
    match run.stage("table", |_| read_table(&data, plan.check_hashes))? {
        Some((cells, file)) => {
            let accuracies = run.stage("match", |_| match_table(&space, &cells))?;
            println!("{} rows of {file}, each matched with one cell", cells.len());
            run.data(DataKind::Real, table_note(&cells, file));
            run.metric("matched_rows", Metric::once(cells.len() as f64));
            report_accuracies(&space, &accuracies, &mut run, &mut report)?;
        }
        None => {
            ensure!(
                args.data.is_none(),
                "neither nas101/{RECORDS} nor nasbench101/{TABLE} is in the folder given with --data"
            );
            let note = format!(
                "The search space is exact; there are no accuracies here, because neither {TABLE} nor {RECORDS} was found. \
                 `cargo xtask fetch nas101` brings the official file."
            );
            println!("{note}");
            run.data(DataKind::Embedded, note);
        }
    }
    println!("report: {}", report.finish(run)?.display());
    Ok(())
}

/// Renumbers cells at random and finds each again by its canonical form; returns how often each method was taken.
fn renumber(space: &Nas101Space, indices: &[usize], seed: u64) -> Result<BTreeMap<String, usize>> {
    let bar = steps_bar("renumber and look up", indices.len() as u64);
    let chunk = |chunk: &[usize]| -> Result<BTreeMap<String, usize>> {
        let mut methods = BTreeMap::new();
        for &index in chunk {
            // A generator per cell: the outcome does not depend on the number of threads.
            let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_mul(1 << 32).wrapping_add(index as u64));
            let cell = space.cell(index);
            let mut order: Vec<usize> = (0..cell.n_nodes()).collect();
            order.shuffle(&mut rng);
            let renumbered = cell.relabel(&order);
            let found = canonicalise(&renumbered);
            let form = seq2dag(&Sequence::in_order(&renumbered, &found.order));
            ensure!(form == cell, "cell {index} was not found again under the order {order:?}");
            ensure!(
                mask(&form, MaskRule::default()).keys(form.n_nodes() - 1).count() == form.n_nodes(),
                "cell {index}: the output must see every node"
            );
            *methods.entry(format!("{:?}", found.method)).or_insert(0) += 1;
        }
        bar.inc(chunk.len() as u64);
        Ok(methods)
    };
    let chunks: Vec<&[usize]> = indices.chunks(4096).collect();
    let counts = chunks.into_par_iter().map(chunk).try_reduce(BTreeMap::new, |mut all, part| {
        part.into_iter().for_each(|(method, count)| *all.entry(method).or_insert(0) += count);
        Ok(all)
    });
    bar.finish_and_clear();
    counts
}

/// The official records if they are at hand, else the compact table, else nothing.
fn read_table(data: &DataDir, check_hashes: bool) -> Result<Option<(Vec<Nas101Cell>, &'static str)>> {
    let bar = rows_bar("read the accuracies");
    let mut progress = rows_seen(&bar);
    let cells = if data.find("nas101", RECORDS).is_some() {
        let format = Nas101TfRecord { check_hashes, ..Nas101TfRecord::default() };
        Some((format.read_cells(&mut *data.open("nas101", RECORDS)?, RECORDS, &mut progress)?, RECORDS))
    } else if data.find("nasbench101", TABLE).is_some() {
        let format = Nas101Table { check_hashes };
        Some((format.read_cells(&mut *data.open("nasbench101", TABLE)?, TABLE, &mut progress)?, TABLE))
    } else {
        None
    };
    bar.finish_and_clear();
    Ok(cells)
}

/// The test accuracy of every cell of the space; an error unless rows and cells match one to one.
fn match_table(space: &Nas101Space, cells: &[Nas101Cell]) -> Result<Vec<f64>> {
    let indices: Vec<Option<usize>> = cells.into_par_iter().map(|cell| space.index_of(&cell.dag)).collect();
    let mut accuracies = vec![f64::NAN; space.len()];
    for (cell, index) in cells.iter().zip(indices) {
        let Some(index) = index else { anyhow::bail!("{} is not a cell of the space", cell.hash) };
        ensure!(accuracies[index].is_nan(), "{} is the second row of its cell", cell.hash);
        accuracies[index] = cell.accuracy(Nas101Accuracy::Test, EPOCHS).unwrap_or(f64::NAN);
        ensure!(accuracies[index].is_finite(), "{} has no test accuracy after {EPOCHS} epochs", cell.hash);
    }
    let missing = accuracies.iter().filter(|accuracy| accuracy.is_nan()).count();
    ensure!(missing == 0, "{missing} cells of the space have no row in the table");
    Ok(accuracies)
}

fn table_note(cells: &[Nas101Cell], file: &str) -> String {
    let runs = cells.iter().map(|cell| cell.runs_at(EPOCHS).count()).max().unwrap_or(0);
    format!("{} rows of {file}, test accuracy after {EPOCHS} epochs, {runs} run(s) per cell", cells.len())
}

fn report_sizes(space: &Nas101Space, run: &mut Run, report: &mut Report) -> Result<()> {
    let mut bars = Bars::default();
    for n_nodes in 2..=DagSpec::nas101().max_nodes {
        let count = space.indices_of_size(n_nodes).len();
        run.metric(&format!("classes_{n_nodes}_nodes"), Metric::once(count as f64));
        bars.labels.push(format!("{n_nodes} nodes: {count}"));
        bars.heights.push((count as f64).log10());
    }
    run.metric("classes", Metric::once(space.len() as f64));
    report.heading("Cells by size");
    report.text(&format!("{} isomorphism classes in all.", space.len()));
    report.svg(&bar_chart("log10 of the number of cells", &bars)?);
    Ok(())
}

fn report_methods(methods: &BTreeMap<String, usize>, report: &mut Report) -> Result<()> {
    let total: usize = methods.values().sum();
    report.heading("How the canonical order was found");
    let bars = Bars {
        labels: methods.iter().map(|(method, count)| format!("{method}: {count}")).collect(),
        heights: methods.values().map(|&count| 100.0 * count as f64 / total as f64).collect(),
    };
    report.svg(&bar_chart("percent of cells", &bars)?);
    Ok(())
}

fn report_accuracies(space: &Nas101Space, accuracies: &[f64], run: &mut Run, report: &mut Report) -> Result<()> {
    let mut best: Vec<usize> = (0..accuracies.len()).collect();
    best.sort_by(|&a, &b| accuracies[b].total_cmp(&accuracies[a]));
    let mean = accuracies.iter().sum::<f64>() / accuracies.len() as f64;
    run.metric("best_test_accuracy", Metric::once(100.0 * accuracies[best[0]]));
    run.metric("mean_test_accuracy", Metric::once(100.0 * mean));
    println!("mean test accuracy {:.3} %, best {:.3} %", 100.0 * mean, 100.0 * accuracies[best[0]]);
    report.heading("Accuracies");
    let mut bars = Bars::default();
    for percent in 80..95 {
        let count = accuracies.iter().filter(|&&accuracy| (100.0 * accuracy) as usize == percent).count();
        bars.labels.push(percent.to_string());
        bars.heights.push(count as f64);
    }
    report.svg(&bar_chart("cells per percent of test accuracy (80 to 95)", &bars)?);
    report.heading("The best cells");
    let spec = DagSpec::nas101();
    let mut rows = vec![vec!["cell".to_owned(), "test accuracy, %".to_owned()]];
    rows.extend(
        best.iter()
            .take(10)
            .map(|&index| vec![spec.format(&space.cell(index)), format!("{:.3}", 100.0 * accuracies[index])]),
    );
    report.table(&rows);
    Ok(())
}
