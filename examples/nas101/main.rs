//! NAS-Bench-101: the whole search space counted out, PACE pre-trained on it, and searched (Table 2 of the paper).
//!
//! `cargo xtask reproduce nas101` runs this. Stages: *enumerate* all cells; *renumber* every cell at random and find it
//! again by its canonical form (Theorem 3.1 on the whole space); *table*: read the accuracies and match every row; *train*:
//! masked language modelling on the cells; *embed* all of them; *search* by DNGO, DNGO-LS and the baselines, over many seeds.

mod plan;
mod search;
mod space;

use std::sync::Arc;

use anyhow::{Result, ensure};
use clap::Parser;
use pace_examples::{MlmArgs, MlmData, Report, RunArgs, pretrain_and_embed};
use pace_graph::enumerate::Nas101Space;
use pace_graph::{CANON_ID, Dag, DagSpec};
use pace_model::objective::metric_pairs;
use pace_search::oracle::{Nas101Protocol, Table};
use pace_train::record::{DataKind, Metric, Run, RunId};
use serde_json::json;

use plan::plan;

/// Counts NAS-Bench-101 out, pre-trains PACE on its cells and searches them
#[derive(Debug, Parser)]
struct Args {
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    mlm: MlmArgs,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let plan = plan(&args.run, &args.mlm)?;
    let threads = args.run.init_threads()?;
    let data = args.run.data_dir();
    let encoder = &args.mlm.encoder;
    let config = json!({"plan": plan, "canon": CANON_ID, "table": space::table_file(&data)});
    let id = RunId::new("nas101", encoder, args.run.seed, threads, config);
    let mut run = Run::start(&args.run.out_dir("nas101", encoder)?, id)?;
    let mut report = Report::new("NAS-Bench-101");

    let space = Arc::new(run.stage("enumerate", |_| anyhow::Ok(Nas101Space::enumerate()))?);
    println!("{} cells, counted out in {:.1} s", space.len(), run.seconds("enumerate"));
    let indices: Vec<usize> = (0..space.len()).step_by(plan.renumber_every).collect();
    let methods = run.stage("renumber", |_| space::renumber(&space, &indices, args.run.seed))?;
    let rate = indices.len() as f64 / run.seconds("renumber");
    println!("{} cells renumbered at random and found again, {rate:.0} per second", indices.len());
    run.metric("renumbered_found", Metric::once(indices.len() as f64));
    run.metric("canonical_graphs_per_s", Metric::once(rate));

    let cells = run.stage("table", |_| space::read_table(&data, plan.check_hashes))?;
    let table = match &cells {
        Some((cells, file)) => {
            let protocol = Nas101Protocol::of(cells);
            let table = run.stage("match", |_| anyhow::Ok(Table::nas101(cells, space.clone(), protocol)?))?;
            ensure!(table.len() > 0, "{file} has no cell of the space");
            println!("{} rows of {file}, each matched with one cell", cells.len());
            if table.len() < space.len() {
                println!("only these are searched: the space has {} cells", space.len());
            }
            run.data(DataKind::Real, space::table_note(cells, file, protocol));
            run.metric("matched_rows", Metric::once(cells.len() as f64));
            table
        }
        None => {
            ensure!(args.run.data.is_none(), "no table of NAS-Bench-101 is in the folder given with --data");
            let (table, note) = run.stage("label", |_| space::embedded_table(&space))?;
            println!("{note}");
            run.data(DataKind::Embedded, note);
            table
        }
    };

    let known = (0..space.len()).filter(|&index| table.at(index).is_some());
    let pool: Vec<usize> = known.step_by(plan.pool_every).collect();
    let dags: Vec<Dag> = pool.iter().map(|&index| space.cell(index)).collect();
    let pairs = match plan.mlm.model.masking.pair {
        Some(_) => {
            let costs = space::costs(&space, &pool, cells.as_ref().map(|(cells, _)| cells.as_slice()))?;
            metric_pairs(&costs, plan::PAIRS_PER_CELL, plan::PAIR_WINDOW, args.run.seed)
        }
        None => Vec::new(),
    };
    let spec = DagSpec::nas101();
    let data = MlmData { spec: &spec, dags: &dags, pairs: &pairs };
    let vectors = pretrain_and_embed(&plan.mlm, data, args.mlm.train.save_every(), &mut run)?;
    search::search(&plan.search, (&space, dags), vectors, &table, &mut run, &mut report)?;

    space::report_sizes(&space, &mut run, &mut report)?;
    space::report_methods(&methods, &mut report)?;
    space::report_accuracies(&space, &table, &mut run, &mut report)?;
    println!("report: {}", report.finish(run)?.display());
    Ok(())
}
