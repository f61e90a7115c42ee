//! [`Sample`]: rows drawn from a network.

use rand::{Rng, RngExt};

use super::model::Network;
use crate::data::Table;
use crate::error::Error;

/// Rows drawn from a network, in the order in which they were drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    names: Vec<String>,
    levels: Vec<Vec<String>>,
    /// `columns[variable][row]`.
    columns: Vec<Vec<u16>>,
}

impl Network {
    /// Draws rows, each variable after its parents (logic sampling, Henrion 1988). The same generator gives the same rows.
    pub fn sample(&self, n_rows: usize, rng: &mut impl Rng) -> Sample {
        let mut columns = vec![Vec::with_capacity(n_rows); self.n_variables()];
        let order = self.structure().order();
        let mut row = vec![0; self.n_variables()];
        for _ in 0..n_rows {
            for &variable in &order {
                let parents = self.structure().parents(variable).iter();
                let configuration = parents.fold(0, |key, &parent| {
                    key * self.levels(parent.into()).len() + usize::from(row[usize::from(parent)])
                });
                row[usize::from(variable)] = draw(self.cpt(variable.into()).row(configuration), rng);
            }
            columns.iter_mut().zip(&row).for_each(|(column, &level)| column.push(level));
        }
        let levels = (0..self.n_variables()).map(|variable| self.levels(variable).to_vec()).collect();
        Sample { names: self.names().to_vec(), levels, columns }
    }
}

/// Draws a level. Probabilities need not sum to 1 exactly.
fn draw(probabilities: &[f64], rng: &mut impl Rng) -> u16 {
    let mut left = rng.random::<f64>() * probabilities.iter().sum::<f64>();
    let mut last = 0;
    for (level, &probability) in probabilities.iter().enumerate().filter(|(_, probability)| **probability > 0.0) {
        last = level;
        if left < probability {
            break;
        }
        left -= probability;
    }
    last as u16
}

impl Sample {
    /// The names of the variables.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The rows as a table with all levels of the network, those included that were not drawn.
    ///
    /// # Errors
    /// If there is nothing to learn from: fewer than two rows, or a variable of one level.
    pub fn table(&self) -> Result<Table, Error> {
        Table::new(self.names.clone(), self.levels.clone(), self.columns.clone())
    }

    /// The rows as CSV with a header, variables in the given order.
    ///
    /// # Panics
    /// If the order names a variable that does not exist.
    pub fn csv(&self, order: &[usize]) -> String {
        let quoted = |text: &str| {
            let is_plain = !text.contains([',', '"', '\n', '\r']) && text.trim() == text;
            if is_plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
        };
        let levels: Vec<Vec<String>> =
            self.levels.iter().map(|levels| levels.iter().map(|level| quoted(level)).collect()).collect();
        let mut text = order.iter().map(|&variable| quoted(&self.names[variable])).collect::<Vec<_>>().join(",");
        text.push('\n');
        for row in 0..self.columns.first().map_or(0, Vec::len) {
            for (at, &variable) in order.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                text.push_str(&levels[variable][usize::from(self.columns[variable][row])]);
            }
            text.push('\n');
        }
        text
    }
}
