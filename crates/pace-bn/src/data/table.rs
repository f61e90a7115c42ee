//! [`Table`]: discrete data in the one form that all methods count in.

use std::collections::HashMap;

use crate::error::Error;

/// The most levels of a variable: they are numbered in two bytes.
pub(super) const MAX_LEVELS: usize = 1 << 16;

/// The most variables of a table: they are numbered in two bytes.
const MAX_VARIABLES: usize = 1 << 16;

/// Discrete data: the distinct rows of a table, and how often each occurs.
///
/// Variables are sorted by name and rows by value. So two files that differ only in the order of their columns or rows give
/// equal tables, and nothing that is computed from a table can depend on either order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    names: Vec<String>,
    levels: Vec<Vec<String>>,
    /// `columns[variable][distinct row]`.
    columns: Vec<Vec<u16>>,
    /// How often each distinct row occurs.
    weights: Vec<u32>,
    n_rows: usize,
    n_dropped: usize,
}

impl Table {
    /// A table of these columns. `levels[v]` names the levels of column `v`, and `columns[v][row]` is one of them.
    ///
    /// Levels that no row has are kept, as R keeps the unused levels of a factor: they count as parameters. Sorting the rows
    /// takes O(rows ln(rows) * variables).
    ///
    /// # Errors
    /// If the columns differ in length, two have one name, a value has no level, or there is nothing to learn from: fewer than
    /// two rows, or a variable with fewer than two levels.
    pub fn new(names: Vec<String>, levels: Vec<Vec<String>>, columns: Vec<Vec<u16>>) -> Result<Table, Error> {
        Table::named("the table", names, levels, columns, 0)
    }

    /// As [`Table::new`]; messages name `file`, and `n_dropped` rows were left out.
    pub(super) fn named(
        file: &str,
        names: Vec<String>,
        levels: Vec<Vec<String>>,
        columns: Vec<Vec<u16>>,
        n_dropped: usize,
    ) -> Result<Table, Error> {
        check(file, &names, &levels, &columns)?;
        let n_rows = columns[0].len();
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by(|&a, &b| names[a].cmp(&names[b]));
        let sorted: Vec<&Vec<u16>> = order.iter().map(|&column| &columns[column]).collect();
        let (columns, weights) = distinct(&sorted, &vec![1; n_rows]);
        let names = order.iter().map(|&column| names[column].clone()).collect();
        let levels = order.iter().map(|&column| levels[column].clone()).collect();
        Ok(Table { names, levels, columns, weights, n_rows, n_dropped })
    }

    /// The names of the variables, sorted.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of variables.
    pub fn n_variables(&self) -> usize {
        self.names.len()
    }

    /// The variable of this name.
    pub fn variable(&self, name: &str) -> Option<usize> {
        self.names.binary_search_by(|known| known.as_str().cmp(name)).ok()
    }

    /// The names of the levels of a variable.
    pub fn levels(&self, variable: usize) -> &[String] {
        &self.levels[variable]
    }

    /// The number of levels of a variable.
    pub fn n_levels(&self, variable: usize) -> usize {
        self.levels[variable].len()
    }

    /// The number of rows, each as often as it occurs.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The number of distinct rows.
    pub fn n_distinct(&self) -> usize {
        self.weights.len()
    }

    /// How many rows of the file were left out because a value was missing.
    pub fn n_dropped(&self) -> usize {
        self.n_dropped
    }

    /// The level of a variable in each distinct row.
    pub fn column(&self, variable: usize) -> &[u16] {
        &self.columns[variable]
    }

    /// How often each distinct row occurs.
    pub fn weights(&self) -> &[u32] {
        &self.weights
    }

    /// The same distinct rows with other weights; those of weight 0 are left out. This is a bootstrap sample.
    ///
    /// # Panics
    /// If there is not one weight per distinct row.
    pub fn reweighted(&self, weights: &[u32]) -> Table {
        assert_eq!(weights.len(), self.weights.len(), "a weight for each distinct row");
        let kept: Vec<usize> = (0..weights.len()).filter(|&row| weights[row] > 0).collect();
        let columns = self.columns.iter().map(|column| kept.iter().map(|&row| column[row]).collect()).collect();
        let weights: Vec<u32> = kept.iter().map(|&row| weights[row]).collect();
        let n_rows = weights.iter().map(|&weight| weight as usize).sum();
        Table { names: self.names.clone(), levels: self.levels.clone(), columns, weights, n_rows, n_dropped: 0 }
    }
}

/// Refuses what is no table to learn from.
fn check(file: &str, names: &[String], levels: &[Vec<String>], columns: &[Vec<u16>]) -> Result<(), Error> {
    let whole = |reason: String| Error::Table { file: file.to_owned(), reason };
    if names.is_empty() {
        return Err(whole("no columns; give a header line such as 'a,b,c' and rows below it".to_owned()));
    }
    if names.len() > MAX_VARIABLES {
        return Err(whole(format!("{} columns, more than {MAX_VARIABLES}; skip some", names.len())));
    }
    if names.len() != columns.len() || names.len() != levels.len() {
        let (found, named) = (columns.len().min(levels.len()), names.len());
        return Err(whole(format!("{named} names for {found} columns with levels; give one of each per column")));
    }
    let column =
        |index: usize, reason: String| Error::Column { file: file.to_owned(), column: names[index].clone(), reason };
    let mut seen = HashMap::new();
    for (index, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(whole(format!("column {} has no name; give every column one", index + 1)));
        }
        if let Some(first) = seen.insert(name, index) {
            let reason = format!("columns {} and {} have this name; rename one of them", first + 1, index + 1);
            return Err(column(index, reason));
        }
    }
    let n_rows = columns[0].len();
    if n_rows < 2 {
        let rows = if n_rows == 0 { "no rows" } else { "only one row" };
        return Err(whole(format!("{rows}; a structure cannot be learnt from fewer than two")));
    }
    if u32::try_from(n_rows).is_err() {
        return Err(whole(format!("{n_rows} rows, more than {}; learn from a part of them", u32::MAX)));
    }
    for (index, (values, levels)) in columns.iter().zip(levels).enumerate() {
        if values.len() != n_rows {
            let reason = format!("{} values where the first column has {n_rows}; complete it", values.len());
            return Err(column(index, reason));
        }
        if levels.len() > MAX_LEVELS {
            return Err(column(
                index,
                format!("{} levels, more than {MAX_LEVELS}; discretise or skip it", levels.len()),
            ));
        }
        if let Some(value) = values.iter().find(|&&value| usize::from(value) >= levels.len()) {
            return Err(column(index, format!("value {value} where there are {} levels; name them all", levels.len())));
        }
        if levels.len() < 2 {
            let level = levels.first().map_or("", String::as_str);
            let reason = format!("'{level}' in every row; it can have neither parents nor children, skip it");
            return Err(column(index, reason));
        }
    }
    Ok(())
}

/// The distinct rows in order, by column, and the sum of their weights.
fn distinct(columns: &[&Vec<u16>], weights: &[u32]) -> (Vec<Vec<u16>>, Vec<u32>) {
    let mut rows: Vec<u32> = (0..weights.len() as u32).collect();
    let value = |column: &Vec<u16>, row: u32| column[row as usize];
    rows.sort_unstable_by(|&a, &b| {
        let differ = columns.iter().map(|column| value(column, a).cmp(&value(column, b)));
        differ.into_iter().find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut kept: Vec<u32> = Vec::new();
    let mut sums: Vec<u32> = Vec::new();
    for row in rows {
        let same =
            kept.last().is_some_and(|&last| columns.iter().all(|column| value(column, last) == value(column, row)));
        match sums.last_mut() {
            Some(sum) if same => *sum += weights[row as usize],
            _ => {
                kept.push(row);
                sums.push(weights[row as usize]);
            }
        }
    }
    let columns = columns.iter().map(|column| kept.iter().map(|&row| value(column, row)).collect());
    (columns.collect(), sums)
}
