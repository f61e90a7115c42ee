//! [`Table`]: graphs with measured scores.

use std::collections::HashMap;
use std::sync::Arc;

use pace_graph::dataset::{Nas101Accuracy, Nas101Cell};
use pace_graph::enumerate::Nas101Space;
use pace_graph::{Dag, GraphKey};
use serde::{Deserialize, Serialize};

use super::Oracle;
use crate::error::Error;

/// The best mean test accuracy of NAS-Bench-101 over its three runs of 108 epochs. Published regrets are relative to it.
pub const NAS101_BEST_TEST: f64 = 0.943_175_752_957_662;
const NAS101_EPOCHS: u32 = 108;

/// The scores of one graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scores {
    /// The score that a search sees.
    pub guide: f64,
    /// The score by which the result of a search is judged.
    pub report: f64,
}

/// Which accuracy of a NAS-Bench-101 cell a search sees, and which one is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nas101Protocol {
    /// The official protocol, after 108 epochs: a search sees the mean validation accuracy, and the mean test accuracy is
    /// reported. Regret is relative to [`NAS101_BEST_TEST`].
    Official,
    /// For tables with only test accuracies: a search sees them, and they are reported. Regret is relative to the best one in
    /// the table. The numbers are not comparable with published ones.
    TestOnly,
}

impl Nas101Protocol {
    /// The official protocol if every cell has a validation accuracy, else the other.
    pub fn of(cells: &[Nas101Cell]) -> Nas101Protocol {
        let validated = |cell: &Nas101Cell| cell.accuracy(Nas101Accuracy::Validation, NAS101_EPOCHS).is_some();
        if cells.iter().all(validated) { Nas101Protocol::Official } else { Nas101Protocol::TestOnly }
    }

    fn scores(self, cell: &Nas101Cell) -> Option<Scores> {
        let report = cell.accuracy(Nas101Accuracy::Test, NAS101_EPOCHS)?;
        let guide = match self {
            Nas101Protocol::Official => cell.accuracy(Nas101Accuracy::Validation, NAS101_EPOCHS)?,
            Nas101Protocol::TestOnly => report,
        };
        Some(Scores { guide, report })
    }
}

#[derive(Clone, Debug)]
enum Places {
    /// By isomorphism class.
    Any(HashMap<GraphKey, u32>),
    /// By index in the space: 4 bytes per cell instead of hundreds in a map.
    Nas101(Arc<Nas101Space>, Vec<u32>),
}

/// Marks a cell that the table does not hold.
const NOWHERE: u32 = u32::MAX;

/// Scores of graphs, found under any numbering of their nodes. As an [`Oracle`] it gives the score that a search may see.
/// Judge the result of a search by [`Table::regret`].
///
/// ```
/// use pace_search::oracle::{Oracle, Scores, Table};
/// let rows = [("0 1 4 : 0>1 1>2", 0.8, 0.7), ("0 2 4 : 0>1 1>2", 0.9, 0.6)];
/// let row = |(dag, guide, report): (&str, f64, f64)| (dag.parse().unwrap(), Scores { guide, report });
/// let table = Table::new(rows.map(row), None)?;
/// let renumbered = "4 2 0 : 2>1 1>0".parse()?;
/// assert_eq!(table.evaluate(&[renumbered])?, [0.9]);
/// assert!((table.regret(&"0 2 4 : 0>1 1>2".parse()?)? - 0.1).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Table {
    places: Places,
    scores: Vec<Scores>,
    best: f64,
}

impl Table {
    /// A table of any graphs. Regret is relative to `best`, or to the best reported score in the table.
    pub fn new(rows: impl IntoIterator<Item = (Dag, Scores)>, best: Option<f64>) -> Result<Table, Error> {
        let (mut places, mut scores) = (HashMap::new(), Vec::new());
        for (row, (dag, found)) in rows.into_iter().enumerate() {
            check(row, found)?;
            if let Some(before) = places.insert(GraphKey::of(&dag), row as u32) {
                return Err(bad_row(row, format!("it is the graph of row {before} again; keep one of them")));
            }
            scores.push(found);
        }
        Table::build(Places::Any(places), scores, best)
    }

    /// A table of NAS-Bench-101 cells of `space`. A cell without runs of 108 epochs is an error.
    pub fn nas101(cells: &[Nas101Cell], space: Arc<Nas101Space>, protocol: Nas101Protocol) -> Result<Table, Error> {
        let mut places = vec![NOWHERE; space.len()];
        let mut scores = Vec::with_capacity(cells.len());
        for (row, cell) in cells.iter().enumerate() {
            let index = space.index_of(&cell.dag);
            let index = index.ok_or_else(|| bad_row(row, "it is no cell of the space; drop it"))?;
            let found = protocol.scores(cell).ok_or_else(|| {
                bad_row(
                    row,
                    format!("it lacks an accuracy that {protocol:?} wants after 108 epochs; use another protocol"),
                )
            })?;
            check(row, found)?;
            if places[index] != NOWHERE {
                return Err(bad_row(row, format!("it is the cell of row {} again; keep one of them", places[index])));
            }
            places[index] = row as u32;
            scores.push(found);
        }
        let best = (protocol == Nas101Protocol::Official).then_some(NAS101_BEST_TEST);
        Table::build(Places::Nas101(space, places), scores, best)
    }

    /// All cells of the space in its order. Regret is relative to the best reported score.
    ///
    /// # Panics
    /// If there are not as many scores as cells.
    pub fn whole_nas101(space: Arc<Nas101Space>, scores: Vec<Scores>) -> Result<Table, Error> {
        assert_eq!(scores.len(), space.len(), "one row of scores per cell");
        scores.iter().enumerate().try_for_each(|(row, &found)| check(row, found))?;
        let places = (0..scores.len() as u32).collect();
        Table::build(Places::Nas101(space, places), scores, None)
    }

    fn build(places: Places, scores: Vec<Scores>, best: Option<f64>) -> Result<Table, Error> {
        let highest = scores.iter().map(|scores| scores.report).max_by(f64::total_cmp);
        let highest = highest.ok_or(Error::TooFewRows { n_rows: 0, wanted: 1 })?;
        Ok(Table { places, scores, best: best.unwrap_or(highest) })
    }

    /// The number of graphs.
    #[expect(clippy::len_without_is_empty, reason = "a table is never empty")]
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// The reported score to which regret is relative.
    pub fn best(&self) -> f64 {
        self.best
    }

    /// The scores of a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> Scores {
        self.scores[row]
    }

    /// The scores of a cell by its index in the space; `None` if the table is not one of NAS-Bench-101 or lacks the cell.
    pub fn at(&self, index: usize) -> Option<Scores> {
        match &self.places {
            Places::Nas101(_, places) => places.get(index).and_then(|&row| self.scores.get(row as usize)).copied(),
            Places::Any(_) => None,
        }
    }

    /// The scores of a graph under any numbering; `None` if it is not in the table.
    pub fn scores(&self, dag: &Dag) -> Option<Scores> {
        match &self.places {
            Places::Any(places) => places.get(&GraphKey::of(dag)).map(|&row| self.scores[row as usize]),
            Places::Nas101(space, _) => self.at(space.index_of(dag)?),
        }
    }

    /// The reported score of a graph.
    pub fn report(&self, dag: &Dag) -> Result<f64, Error> {
        self.find(0, dag).map(|scores| scores.report)
    }

    /// `best - report`. Negative if the graph is better than the stated best.
    pub fn regret(&self, dag: &Dag) -> Result<f64, Error> {
        self.report(dag).map(|report| self.best - report)
    }

    fn find(&self, graph: usize, dag: &Dag) -> Result<Scores, Error> {
        self.scores(dag).ok_or_else(|| Error::NotInTable { graph, n_rows: self.len() })
    }
}

impl Oracle for Table {
    fn evaluate(&self, dags: &[Dag]) -> Result<Vec<f64>, Error> {
        dags.iter().enumerate().map(|(graph, dag)| self.find(graph, dag).map(|scores| scores.guide)).collect()
    }
}

fn check(row: usize, scores: Scores) -> Result<(), Error> {
    match scores.guide.is_finite() && scores.report.is_finite() {
        true => Ok(()),
        false => Err(bad_row(row, format!("{scores:?} is not finite; drop it or repair the score"))),
    }
}

fn bad_row(row: usize, reason: impl Into<String>) -> Error {
    Error::TableRow { row, reason: reason.into() }
}
