//! [`EmbeddedNas101`]: all cells of NAS-Bench-101, without the table.

use std::sync::Arc;

use pace_graph::enumerate::Nas101Space;
use rayon::prelude::{IntoParallelIterator, ParallelIterator};

use super::Nas101Surrogate;
use crate::error::Error;
use crate::oracle::table::{Scores, Table};
use crate::perceptron::HeldOut;

/// A substitute for NAS-Bench-101, if its table is missing: all 423,624 cells, with guessed accuracies.
#[derive(Clone, Debug)]
pub struct EmbeddedNas101 {
    /// All cells.
    pub space: Arc<Nas101Space>,
    /// What this is, and what it is not, for users.
    pub note: String,
}

/// Enumerates the space of NAS-Bench-101. [`Nas101Surrogate::embedded`] labels cells on request.
pub fn embedded_nas101() -> EmbeddedNas101 {
    EmbeddedNas101::new(Arc::new(Nas101Space::enumerate()))
}

impl EmbeddedNas101 {
    /// The same, if the cells are enumerated already.
    pub fn new(space: Arc<Nas101Space>) -> EmbeddedNas101 {
        let surrogate = Nas101Surrogate::embedded();
        let HeldOut { rmse, spearman, n_rows, .. } = surrogate.held_out();
        let note = format!(
            "embedded stand-in, not the published table: all {} cells of NAS-Bench-101, with accuracies guessed by small \
             networks that we trained on single test runs of these cells; on {n_rows} held-out cells the guesses have Spearman \
             correlation {spearman:.3} with the truth ({:.3} among the best tenth) and an error of {rmse:.3} standard \
             deviations; as guesses are smooth, they are easier to predict than the truth, and regrets are not \
             comparable with published ones",
            space.len(),
            surrogate.held_out_best().spearman
        );
        EmbeddedNas101 { space, note }
    }

    /// The guess for the cell with this index.
    ///
    /// # Panics
    /// If there is no such cell.
    pub fn score(&self, index: usize) -> f64 {
        Nas101Surrogate::embedded().score(&self.space.cell(index)).expect("a cell of the space")
    }

    /// The guesses for all cells, on all cores.
    pub fn scores(&self) -> Vec<f64> {
        (0..self.space.len()).into_par_iter().map(|index| self.score(index)).collect()
    }

    /// All guesses as a table, in which they guide and are reported.
    pub fn table(&self) -> Result<Table, Error> {
        let scores = self.scores().into_iter().map(|score| Scores { guide: score, report: score });
        Table::whole_nas101(self.space.clone(), scores.collect())
    }
}
