//! The accuracies of the cells: read and matched with the space, or guessed by the embedded surrogate.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use pace_graph::dataset::{DataDir, Nas101Cell, Nas101Table, Nas101TfRecord};
use pace_graph::enumerate::Nas101Space;
use pace_search::oracle::{EmbeddedNas101, Nas101Protocol, Table};
use pace_train::record::{DataKind, Run, Stage};

use crate::args::RunArgs;
use crate::progress::{rows_bar, rows_seen};

const TABLE: &str = "nasbench101.csv";
const RECORDS: &str = "nasbench_only108.tfrecord";
const EPOCHS: u32 = 108;

/// What is known about the cells.
pub struct Labels {
    /// Accuracies by cell of the space.
    pub table: Table,
    /// The rows they come from; `None` if the embedded surrogate guessed them.
    pub cells: Option<Vec<Nas101Cell>>,
}

/// The accuracies of the file at hand, or guesses if there is none and no folder was asked for.
///
/// # Errors
/// A file that cannot be read, or an asked-for folder without one.
pub fn labels(
    data: &DataDir,
    args: &RunArgs,
    check_hashes: bool,
    space: &Arc<Nas101Space>,
    run: &mut Run,
) -> Result<Labels> {
    let Some((cells, file)) = run.stage(&Stage::new("table"), |_| read(data, check_hashes))? else {
        ensure!(args.data.is_none(), "no table of NAS-Bench-101 is in the folder given with --data");
        let embedded = EmbeddedNas101::new(space.clone());
        let table = run.stage(&Stage::new("label"), |_| anyhow::Ok(embedded.table()?))?;
        println!("{}", embedded.note);
        run.data(DataKind::Embedded, embedded.note);
        return Ok(Labels { table, cells: None });
    };
    let protocol = Nas101Protocol::of(&cells);
    let table = run.stage(&Stage::new("match"), |_| anyhow::Ok(Table::nas101(&cells, space.clone(), protocol)?))?;
    ensure!(table.len() > 0, "{file} has no cell of the space");
    println!("{} rows of {file}, each matched with one cell", cells.len());
    if table.len() < space.len() {
        println!("only these are searched: the space has {} cells", space.len());
    }
    run.data(DataKind::Real, note(&cells, file, protocol));
    Ok(Labels { table, cells: Some(cells) })
}

impl Labels {
    /// The numbers of parameters of cells, by which the authors pair them.
    ///
    /// # Errors
    /// Without a file: the stand-in knows no parameters.
    pub fn costs(&self, space: &Nas101Space, pool: &[usize]) -> Result<Vec<f64>> {
        let cells = self.cells.as_ref();
        let cells =
            cells.context("pairs are made by numbers of parameters, which only the table has; give its folder")?;
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
}

/// The file that [`labels`] reads, if there is one.
pub fn file(data: &DataDir) -> Option<&'static str> {
    let found =
        [("nas101", RECORDS), ("nasbench101", TABLE)].into_iter().find(|(id, file)| data.find(id, file).is_some());
    found.map(|(_, file)| file)
}

/// The official records if they are at hand, else the compact table, else `None`.
fn read(data: &DataDir, check_hashes: bool) -> Result<Option<(Vec<Nas101Cell>, &'static str)>> {
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

/// Where the accuracies come from, and what they are taken for.
fn note(cells: &[Nas101Cell], file: &str, protocol: Nas101Protocol) -> String {
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
