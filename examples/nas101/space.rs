//! The search space and its table: counted out, matched, shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use pace_examples::{Bars, Report, bar_chart, rows_bar, rows_seen, steps_bar};
use pace_graph::dataset::{DataDir, Nas101Cell, Nas101Table, Nas101TfRecord};
use pace_graph::enumerate::Nas101Space;
use pace_graph::structure::{MaskRule, mask};
use pace_graph::{DagSpec, Sequence, canonicalise, seq2dag};
use pace_search::oracle::{EmbeddedNas101, Nas101Protocol, Table};
use pace_train::record::{Metric, Run};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::{IntoParallelIterator, ParallelIterator};

const TABLE: &str = "nasbench101.csv";
const RECORDS: &str = "nasbench_only108.tfrecord";
const EPOCHS: u32 = 108;

/// Renumbers cells at random and finds each again by its canonical form; returns how often each method was taken.
pub fn renumber(space: &Nas101Space, indices: &[usize], seed: u64) -> Result<BTreeMap<String, usize>> {
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
pub fn read_table(data: &DataDir, check_hashes: bool) -> Result<Option<(Vec<Nas101Cell>, &'static str)>> {
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

/// Which table there is, by name.
pub fn table_file(data: &DataDir) -> Option<&'static str> {
    let found =
        [("nas101", RECORDS), ("nasbench101", TABLE)].into_iter().find(|(id, file)| data.find(id, file).is_some());
    found.map(|(_, file)| file)
}

/// Where the accuracies come from, and what they are taken for.
pub fn table_note(cells: &[Nas101Cell], file: &str, protocol: Nas101Protocol) -> String {
    let runs = cells.iter().map(|cell| cell.runs_at(EPOCHS).count()).max().unwrap_or(0);
    let roles = match protocol {
        Nas101Protocol::Official => {
            "mean validation accuracy guides the searches, mean test accuracy is reported, regret is counted from the \
             official best"
        }
        Nas101Protocol::TestOnly => {
            "there are no validation accuracies, so test accuracy both guides the searches and is reported, and regret is \
             counted from the best single run of the table: not comparable with the paper's numbers"
        }
    };
    format!("{} rows of {file}, accuracies after {EPOCHS} epochs, {runs} run(s) per cell; {roles}", cells.len())
}

/// The whole space labelled by the embedded surrogate, and what that means.
///
/// # Errors
/// If the surrogate gives no number.
pub fn embedded_table(space: &Arc<Nas101Space>) -> Result<(Table, String)> {
    let embedded = EmbeddedNas101::new(space.clone());
    Ok((embedded.table()?, embedded.note))
}

/// The numbers of parameters of cells, by which the authors pair them.
///
/// # Errors
/// Without a table: the stand-in knows no parameters.
pub fn costs(space: &Nas101Space, pool: &[usize], cells: Option<&[Nas101Cell]>) -> Result<Vec<f64>> {
    let cells = cells.context("pairs are made by numbers of parameters, which only the table has; give its folder")?;
    let mut by_index = vec![f64::NAN; space.len()];
    for cell in cells {
        if let Some(index) = space.index_of(&cell.dag) {
            by_index[index] = f64::from(cell.parameters);
        }
    }
    let costs: Vec<f64> = pool.iter().map(|&index| by_index[index]).collect();
    ensure!(costs.iter().all(|cost| cost.is_finite()), "the table lacks cells of the space");
    Ok(costs)
}

pub fn report_sizes(space: &Nas101Space, run: &mut Run, report: &mut Report) -> Result<()> {
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

pub fn report_methods(methods: &BTreeMap<String, usize>, report: &mut Report) -> Result<()> {
    let total: usize = methods.values().sum();
    report.heading("How the canonical order was found");
    let bars = Bars {
        labels: methods.iter().map(|(method, count)| format!("{method}: {count}")).collect(),
        heights: methods.values().map(|&count| 100.0 * count as f64 / total as f64).collect(),
    };
    report.svg(&bar_chart("percent of cells", &bars)?);
    Ok(())
}

pub fn report_accuracies(space: &Nas101Space, table: &Table, run: &mut Run, report: &mut Report) -> Result<()> {
    let scores = (0..space.len()).filter_map(|index| Some((index, table.at(index)?.report)));
    let mut best: Vec<(usize, f64)> = scores.collect();
    best.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mean = best.iter().map(|(_, accuracy)| accuracy).sum::<f64>() / best.len() as f64;
    run.metric("best_test_accuracy", Metric::once(100.0 * best[0].1));
    run.metric("mean_test_accuracy", Metric::once(100.0 * mean));
    println!("mean test accuracy {:.3} %, best {:.3} %", 100.0 * mean, 100.0 * best[0].1);
    report.heading("Accuracies");
    let mut bars = Bars::default();
    for percent in 80..95 {
        let count = best.iter().filter(|(_, accuracy)| (100.0 * accuracy) as usize == percent).count();
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
            .map(|&(index, accuracy)| vec![spec.format(&space.cell(index)), format!("{:.3}", 100.0 * accuracy)]),
    );
    report.table(&rows);
    Ok(())
}
