//! [`RandomNetwork`]: networks to test methods on.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Gamma};
use serde::{Deserialize, Serialize};

use super::model::{Cpt, Network, n_configurations};
use crate::error::Error;
use crate::structure::Structure;

/// A distribution over networks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RandomNetwork {
    /// The number of variables.
    pub n_variables: usize,
    /// The most levels; each variable has 2 or more, all numbers being equally likely.
    pub max_levels: usize,
    /// The most parents; each variable has 0 or more of those before it, all numbers being equally likely.
    pub max_parents: usize,
    /// Each row of probabilities is drawn from a symmetric Dirichlet distribution with this parameter; the smaller it is, the
    /// more a parent decides.
    pub concentration: f64,
}

impl RandomNetwork {
    /// Draws a network. Variables are named `x0`, `x1` and so on, with leading zeros, in an order that says nothing about arcs.
    ///
    /// # Errors
    /// If an option is out of range, or a family would be too large.
    pub fn draw(&self, rng: &mut impl Rng) -> Result<Network, Error> {
        let wrong = |option, value: String, remedy: &str| Error::Option { option, value, remedy: remedy.to_owned() };
        let n = self.n_variables;
        if !(1..=10_000).contains(&n) {
            return Err(wrong("the number of variables", n.to_string(), "give 1 to 10000"));
        }
        if !(2..=1000).contains(&self.max_levels) {
            return Err(wrong("the number of levels", self.max_levels.to_string(), "give 2 to 1000"));
        }
        let gamma = Gamma::new(self.concentration, 1.0).map_err(|_| {
            wrong("the concentration", self.concentration.to_string(), "give a number above 0, such as 0.5")
        })?;
        let digits = (n - 1).to_string().len();
        let names: Vec<String> = (0..n).map(|variable| format!("x{variable:0digits$}")).collect();
        let level_names = |count: usize| (0..count).map(|level| format!("s{level}")).collect();
        let levels: Vec<Vec<String>> = (0..n).map(|_| level_names(rng.random_range(2..=self.max_levels))).collect();
        let mut order: Vec<u16> = (0..n as u16).collect();
        order.shuffle(rng);
        let mut parents = vec![Vec::new(); n];
        for (at, &variable) in order.iter().enumerate() {
            let count = rng.random_range(0..=self.max_parents.min(at));
            let chosen = rand::seq::index::sample(rng, at, count);
            parents[usize::from(variable)] = chosen.into_iter().map(|place| order[place]).collect();
        }
        let structure = Structure::new(parents)?;
        let mut cpts = Vec::with_capacity(n);
        for variable in 0..n {
            let n_rows = n_configurations(&names[variable], structure.parents(variable as u16), &levels)?;
            let rows = (0..n_rows).flat_map(|_| dirichlet(levels[variable].len(), &gamma, rng));
            cpts.push(Cpt::new(levels[variable].len(), rows.collect()));
        }
        Network::new("random".to_owned(), names, levels, structure, cpts)
    }
}

/// Draws probabilities.
fn dirichlet(n_levels: usize, gamma: &Gamma<f64>, rng: &mut impl Rng) -> Vec<f64> {
    let mut row: Vec<f64> = (0..n_levels).map(|_| gamma.sample(rng)).collect();
    let sum: f64 = row.iter().sum();
    // Of a tiny concentration all may be too small for a number.
    row.iter_mut().for_each(|value| *value = if sum > 0.0 { *value / sum } else { 1.0 / n_levels as f64 });
    row
}
