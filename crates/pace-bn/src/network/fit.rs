//! [`fit`]: conditional probabilities from data.

use super::model::{Cpt, Network, n_configurations};
use crate::data::Table;
use crate::error::Error;
use crate::structure::Structure;

/// Fits the probabilities of a structure to a table.
///
/// ```text
/// P(level k | configuration j) = (n_jk + pseudo_count) / (n_j + r * pseudo_count)
/// ```
///
/// With `pseudo_count` 0 these are the maximum-likelihood estimates. A configuration that does not occur then has equal
/// chances for all r levels, as in pgmpy; bnlearn leaves them undefined.
///
/// # Errors
/// If the structure has other variables than the table, a family is too large for a table of probabilities, or the pseudo-count
/// is no number from 0 on.
pub fn fit(table: &Table, structure: &Structure, pseudo_count: f64) -> Result<Network, Error> {
    if !(pseudo_count.is_finite() && pseudo_count >= 0.0) {
        return Err(Error::Option {
            option: "the pseudo-count",
            value: pseudo_count.to_string(),
            remedy: "give a number from 0 on".to_owned(),
        });
    }
    if structure.n_variables() != table.n_variables() {
        return Err(Error::Option {
            option: "the number of variables of the structure",
            value: structure.n_variables().to_string(),
            remedy: format!("give a structure over the {} variables of the table", table.n_variables()),
        });
    }
    let levels: Vec<Vec<String>> = (0..table.n_variables()).map(|variable| table.levels(variable).to_vec()).collect();
    let cpts = (0..table.n_variables()).map(|variable| {
        let parents = structure.parents(variable as u16);
        let n_rows = n_configurations(&table.names()[variable], parents, &levels)?;
        let n_levels = levels[variable].len();
        let mut counts = vec![0.0; n_rows * n_levels];
        for (row, &weight) in table.weights().iter().enumerate() {
            let configuration = parents.iter().fold(0, |key, &parent| {
                key * levels[usize::from(parent)].len() + usize::from(table.column(parent.into())[row])
            });
            counts[configuration * n_levels + usize::from(table.column(variable)[row])] += f64::from(weight);
        }
        for row in counts.chunks_exact_mut(n_levels) {
            let sum = row.iter().sum::<f64>() + n_levels as f64 * pseudo_count;
            row.iter_mut().for_each(|count| {
                *count = if sum > 0.0 { (*count + pseudo_count) / sum } else { 1.0 / n_levels as f64 };
            });
        }
        Ok(Cpt::new(n_levels, counts))
    });
    let cpts = cpts.collect::<Result<Vec<Cpt>, Error>>()?;
    Network::new("learnt".to_owned(), table.names().to_vec(), levels, structure.clone(), cpts)
}
