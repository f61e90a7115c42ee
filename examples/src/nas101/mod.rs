//! NAS-Bench-101: the whole search space enumerated, PACE pre-trained on it, and searched (Table 2 of the paper).
//!
//! `cargo xtask reproduce nas101` runs this. Stages: *enumerate* all cells; *renumber* every cell at random and find it
//! again by its canonical form (Theorem 3.1 on the whole space); *table*: read the accuracies and match every row; *train*:
//! masked language modelling on the cells; *embed* all of them; *search* by DNGO, DNGO-LS and the baselines, over many seeds.

mod few_labels;
mod metrics;
mod plan;
mod report;
mod search;
mod space;
mod table;

use std::sync::Arc;

use anyhow::Result;
use clap::Parser;
use pace_graph::enumerate::Nas101Space;
use pace_graph::{CANON_ID, Dag, DagSpec};
use pace_model::objective::metric_pairs;
use pace_train::record::{Metric, Stage};
use serde_json::json;

use crate::args::RunArgs;
use crate::mlm::{MlmArgs, MlmData, pretrain_and_embed};
use crate::report::{Report, finish};
use crate::table::is_list;
use plan::plan;

/// Enumerates NAS-Bench-101, pre-trains PACE on its cells and searches them
#[derive(Debug, Parser)]
pub struct Args {
    /// Those of every program.
    #[command(flatten)]
    pub run: RunArgs,
    /// Those of the model and the searches.
    #[command(flatten)]
    pub mlm: MlmArgs,
    /// Predict accuracies from 100 to 4,236 known ones, besides the searches
    #[arg(long)]
    pub few_labels: bool,
    /// Leave out the searches
    #[arg(long)]
    pub no_search: bool,
}

/// Runs the experiment.
///
/// # Errors
/// Those of its stages.
pub fn run(args: &Args) -> Result<()> {
    if is_list(&args.mlm.encoder) {
        return crate::table::run("nas101", "NAS-Bench-101", &args.mlm.encoder, &args.run, metrics::columns);
    }
    let plan = plan(args)?;
    let data = args.run.data_dir();
    let config = json!({"plan": plan, "canon": CANON_ID, "table": table::file(&data)});
    let mut run = args.run.start("nas101", &args.mlm.encoder, config)?;

    let enumerate = Stage::new("enumerate");
    let space = Arc::new(run.stage(&enumerate, |_| anyhow::Ok(Nas101Space::enumerate()))?);
    println!("{} cells, enumerated in {:.1} s", space.len(), run.seconds(&enumerate));
    let (indices, renumber) =
        ((0..space.len()).step_by(plan.renumber_every).collect::<Vec<usize>>(), Stage::new("renumber"));
    let methods = run.stage(&renumber, |_| space::renumber(&space, &indices, args.run.seed))?;
    let rate = indices.len() as f64 / run.seconds(&renumber);
    println!("{} cells renumbered at random and found again, {rate:.0} per second", indices.len());

    let labels = table::labels(&data, &args.run, plan.check_hashes, &space, &mut run)?;
    let known = (0..space.len()).filter(|&index| labels.table.at(index).is_some());
    let pool: Vec<usize> = known.step_by(plan.pool_every).collect();
    let dags: Vec<Dag> = pool.iter().map(|&index| space.cell(index)).collect();
    let pairs = match plan.mlm.model.masking.pair {
        Some(_) => {
            let costs = labels.costs(&space, &pool)?;
            metric_pairs(&costs, plan::PAIRS_PER_CELL, plan::PAIR_WINDOW, args.run.seed)
        }
        None => Vec::new(),
    };
    let spec = DagSpec::nas101();
    let data = MlmData { spec: &spec, dags: &dags, pairs: &pairs };
    let embedded = pretrain_and_embed(&plan.mlm, data, args.mlm.train.save_every(), &mut run)?;

    let (speeds, mut page) = (embedded.speeds(), Report::new("NAS-Bench-101"));
    if let Some(few_labels) = &plan.few_labels {
        let accuracy = |&index: &usize| labels.table.at(index).map_or(f64::NAN, |scores| scores.report);
        let accuracies: Vec<f64> = pool.iter().map(accuracy).collect();
        // Only PACE is fine-tuned.
        let controls = args.mlm.encoder == "pace" && !args.mlm.train.no_controls;
        few_labels::predict(few_labels, controls, &dags, &embedded, &accuracies, &mut run, &mut page)?;
    }
    if !args.no_search {
        search::search(&plan.search, (&space, dags), embedded, &labels.table, &mut run, &mut page)?;
    }
    if let Some(cells) = &labels.cells {
        run.metric(&metrics::MATCHED_ROWS, Metric::once(cells.len() as f64));
    }
    run.metric(&metrics::RENUMBERED, Metric::once(indices.len() as f64));
    report::accuracies(&space, &labels.table, &mut run, &mut page)?;
    speeds.into_iter().for_each(|(spec, metric)| run.metric(&spec, metric));
    run.metric(&metrics::CANONICAL_SPEED, Metric::once(rate));
    report::sizes(&space, &mut run, &mut page)?;
    report::methods(&methods, &mut page)?;
    println!("report: {}", finish(page, run)?.display());
    Ok(())
}
