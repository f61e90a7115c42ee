//! [`Table`]: graphs whose scores somebody has measured.

use std::collections::HashMap;
use std::sync::Arc;

use pace_graph::dataset::{Nas101Accuracy, Nas101Cell};
use pace_graph::enumerate::Nas101Space;
use pace_graph::{Dag, GraphKey};
use serde::{Deserialize, Serialize};

use super::Oracle;
use crate::error::Error;

/// The best mean test accuracy of NAS-Bench-101 over its three runs of 108 epochs: what published regrets refer to.
pub const NAS101_BEST_TEST: f64 = 0.943_175_752_957_662;
const NAS101_EPOCHS: u32 = 108;

/// What a table knows about a graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scores {
    /// What a search may look at.
    pub guide: f64,
    /// What its result is judged by.
    pub report: f64,
}

/// Which accuracy of a NAS-Bench-101 cell guides and which one is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nas101Protocol {
    /// The official one: mean validation accuracy guides, mean test accuracy is reported, both after 108 epochs, and regret
    /// is counted from [`NAS101_BEST_TEST`].
    Official,
    /// For tables with nothing but test accuracies: they guide and are reported, and regret is counted from the best one in
    /// the table. Numbers are not comparable with published ones.
    TestOnly,
}

impl Nas101Protocol {
    /// The official protocol where every cell has a validation accuracy, else the other.
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
    /// By index in the space: 4 bytes per cell where a map would take hundreds.
    Nas101(Arc<Nas101Space>, Vec<u32>),
}

/// Marks a cell that the table does not have.
const NOWHERE: u32 = u32::MAX;

/// Scores of graphs, found under any numbering. As an [`Oracle`] it gives the guiding score; judge the result of a search by
/// [`Table::regret`].
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
    /// Rows of any graphs. Regret is counted from `best`, or from the best reported score in the table.
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

    /// NAS-Bench-101 cells; `space` is what they are found by. Cells without runs of 108 epochs are an error.
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

    /// All cells of the space in its order; regret is counted from the best reported score.
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

    /// How many graphs.
    #[expect(clippy::len_without_is_empty, reason = "a table is never empty")]
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// The reported score that regret is counted from.
    pub fn best(&self) -> f64 {
        self.best
    }

    /// The scores of a row, as given.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> Scores {
        self.scores[row]
    }

    /// The scores of a cell by its index in the space; none if the table is not one of NAS-Bench-101 or lacks the cell.
    pub fn at(&self, index: usize) -> Option<Scores> {
        match &self.places {
            Places::Nas101(_, places) => places.get(index).and_then(|&row| self.scores.get(row as usize)).copied(),
            Places::Any(_) => None,
        }
    }

    /// The scores of a graph under any numbering; none if it is not in the table.
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

    /// `best - report`: how much was missed. Negative if the table holds better than the stated best.
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
