//! [`Network`]: variables, arcs and conditional probabilities.

use crate::error::Error;
use crate::structure::{Cpdag, Structure};

/// The most probabilities of one variable.
pub(super) const MAX_ENTRIES: usize = 1 << 22;
/// Rows may sum to 1 only about this well: published networks are rounded.
const ROUNDING: f64 = 0.011;

/// The conditional probabilities of one variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Cpt {
    n_levels: usize,
    /// A row per configuration of the parents, the last parent changing fastest; a level per column.
    entries: Vec<f64>,
}

impl Cpt {
    /// A table of rows of `n_levels` probabilities each.
    pub(super) fn new(n_levels: usize, entries: Vec<f64>) -> Cpt {
        Cpt { n_levels, entries }
    }

    /// The probabilities of the levels, given a configuration of the parents.
    ///
    /// Configurations are numbered in mixed radix, parents in order, the last one changing fastest.
    pub fn row(&self, configuration: usize) -> &[f64] {
        &self.entries[configuration * self.n_levels..][..self.n_levels]
    }

    /// All rows, by configuration.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.entries.chunks_exact(self.n_levels)
    }
}

/// A Bayesian network over discrete variables. Variables are sorted by name, as in [`Table`](crate::Table).
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    name: String,
    names: Vec<String>,
    levels: Vec<Vec<String>>,
    structure: Structure,
    cpts: Vec<Cpt>,
}

impl Network {
    /// A network of sorted, different names. `cpts[v]` has a row per configuration of the parents of v.
    ///
    /// # Errors
    /// If a table has the wrong size, or a row is no distribution.
    pub(super) fn new(
        name: String,
        names: Vec<String>,
        levels: Vec<Vec<String>>,
        structure: Structure,
        cpts: Vec<Cpt>,
    ) -> Result<Network, Error> {
        let network = Network { name, names, levels, structure, cpts };
        for variable in 0..network.names.len() {
            let n_rows = network.n_configurations(variable)?;
            let cpt = &network.cpts[variable];
            let wrong = |value: String, remedy: &str| Error::Option {
                option: "the probabilities of a variable",
                value: format!("{value} for '{}'", network.names[variable]),
                remedy: remedy.to_owned(),
            };
            if cpt.entries.len() != n_rows * network.levels[variable].len() {
                return Err(wrong(
                    format!("{} numbers", cpt.entries.len()),
                    "give one per level and configuration of the parents",
                ));
            }
            let is_distribution = |row: &[f64]| {
                row.iter().all(|&p| (0.0..=1.0).contains(&p)) && (row.iter().sum::<f64>() - 1.0).abs() < ROUNDING
            };
            if let Some(row) = cpt.rows().find(|row| !is_distribution(row)) {
                return Err(wrong(format!("{row:?}"), "give numbers from 0 to 1 that sum to 1"));
            }
        }
        Ok(network)
    }

    /// What the network is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of the variables, sorted.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of variables.
    pub fn n_variables(&self) -> usize {
        self.names.len()
    }

    /// The names of the levels of a variable.
    pub fn levels(&self, variable: usize) -> &[String] {
        &self.levels[variable]
    }

    /// The arcs.
    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    /// The equivalence class of the arcs.
    pub fn cpdag(&self) -> Cpdag {
        Cpdag::of(&self.structure)
    }

    /// The conditional probabilities of a variable.
    pub fn cpt(&self, variable: usize) -> &Cpt {
        &self.cpts[variable]
    }

    /// The number of free parameters.
    pub fn n_parameters(&self) -> usize {
        let free = |cpt: &Cpt| cpt.entries.len() / cpt.n_levels * (cpt.n_levels - 1);
        self.cpts.iter().map(free).sum()
    }

    /// How many configurations the parents of a variable have.
    fn n_configurations(&self, variable: usize) -> Result<usize, Error> {
        n_configurations(&self.names[variable], self.structure.parents(variable as u16), &self.levels)
    }
}

/// The product of the parents' levels, if a table of that size can be kept.
pub(super) fn n_configurations(name: &str, parents: &[u16], levels: &[Vec<String>]) -> Result<usize, Error> {
    let mut product: usize = 1;
    for &parent in parents {
        product = product.saturating_mul(levels[usize::from(parent)].len());
        if product > MAX_ENTRIES {
            return Err(Error::Option {
                option: "the number of parent configurations",
                value: format!("more than {MAX_ENTRIES} for '{name}'"),
                remedy: "give the variable fewer parents".to_owned(),
            });
        }
    }
    Ok(product)
}
