//! What the page says about the space and its accuracies.

use std::collections::BTreeMap;

use anyhow::Result;
use pace_graph::DagSpec;
use pace_graph::enumerate::Nas101Space;
use pace_search::oracle::Table;
use pace_train::record::{Metric, Run};

use super::metrics::{BEST_ACCURACY, CLASSES, MEAN_ACCURACY, classes_of};
use crate::report::{Bars, Report, bar_chart};

/// Cells by size.
///
/// # Errors
/// If the plot cannot be drawn.
pub fn sizes(space: &Nas101Space, run: &mut Run, page: &mut Report) -> Result<()> {
    let mut bars = Bars::default();
    for n_nodes in 2..=DagSpec::nas101().max_nodes {
        let count = space.indices_of_size(n_nodes).len();
        run.metric(&classes_of(n_nodes), Metric::once(count as f64));
        bars.labels.push(format!("{n_nodes} nodes: {count}"));
        bars.heights.push((count as f64).log10());
    }
    run.metric(&CLASSES, Metric::once(space.len() as f64));
    page.heading("Cells by size");
    page.text(&format!("{} isomorphism classes in all.", space.len()));
    page.plot(bar_chart("log10 of the number of cells", &bars));
    Ok(())
}

/// How the canonical orders were found.
///
/// # Errors
/// If the plot cannot be drawn.
pub fn methods(methods: &BTreeMap<String, usize>, page: &mut Report) -> Result<()> {
    let total: usize = methods.values().sum();
    page.heading("How the canonical order was found");
    let bars = Bars {
        labels: methods.iter().map(|(method, count)| format!("{method}: {count}")).collect(),
        heights: methods.values().map(|&count| 100.0 * count as f64 / total as f64).collect(),
    };
    page.plot(bar_chart("percent of cells", &bars));
    Ok(())
}

/// The accuracies and the best cells.
///
/// # Errors
/// If the plot cannot be drawn.
pub fn accuracies(space: &Nas101Space, table: &Table, run: &mut Run, page: &mut Report) -> Result<()> {
    let scores = (0..space.len()).filter_map(|index| Some((index, table.at(index)?.report)));
    let mut best: Vec<(usize, f64)> = scores.collect();
    best.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mean = best.iter().map(|(_, accuracy)| accuracy).sum::<f64>() / best.len() as f64;
    run.metric(&BEST_ACCURACY, Metric::once(100.0 * best[0].1));
    run.metric(&MEAN_ACCURACY, Metric::once(100.0 * mean));
    println!("mean test accuracy {:.3} %, best {:.3} %", 100.0 * mean, 100.0 * best[0].1);
    page.heading("Accuracies");
    let mut bars = Bars::default();
    for percent in 80..95 {
        let count = best.iter().filter(|(_, accuracy)| (100.0 * accuracy) as usize == percent).count();
        bars.labels.push(percent.to_string());
        bars.heights.push(count as f64);
    }
    page.plot(bar_chart("cells per percent of test accuracy (80 to 95)", &bars));
    page.heading("The best cells");
    let spec = DagSpec::nas101();
    let drawn =
        best.iter().take(10).map(|&(index, accuracy)| (format!("{:.3} %", 100.0 * accuracy), space.cell(index)));
    page.dags(&spec, &drawn.collect::<Vec<_>>());
    Ok(())
}
