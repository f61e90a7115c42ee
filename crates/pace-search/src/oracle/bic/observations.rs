//! [`Observations`]: discrete data, rows by variables.

use std::collections::BTreeSet;

use crate::error::Error;

/// A level is stored in one byte.
const MAX_LEVELS: usize = 256;

/// Discrete data: a table of levels, one column per variable.
///
/// Levels are numbered in alphabetical order, as R numbers the levels of a factor: `no` is 0, `yes` is 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observations {
    names: Vec<String>,
    levels: Vec<Vec<String>>,
    /// `columns[variable][row]`.
    columns: Vec<Vec<u8>>,
}

impl Observations {
    /// A table of these columns; `levels[v]` are the names of the levels of variable `v`.
    ///
    /// # Panics
    /// If the columns differ in length or in number from `names` and `levels`, or hold a level without a name.
    pub fn new(names: Vec<String>, levels: Vec<Vec<String>>, columns: Vec<Vec<u8>>) -> Observations {
        assert!(names.len() == columns.len() && levels.len() == columns.len(), "a name and levels for each column");
        for (column, levels) in columns.iter().zip(&levels) {
            assert_eq!(column.len(), columns[0].len(), "columns of one length");
            assert!(column.iter().all(|&level| usize::from(level) < levels.len()), "a level beyond {levels:?}");
        }
        Observations { names, levels, columns }
    }

    /// Parses comma-separated text with a header. Cells are level names, quoted or not. Error messages name `file`.
    ///
    /// The levels are those that occur. Every row must have a value for every column.
    pub fn parse_csv(text: &str, file: &str) -> Result<Observations, Error> {
        let wrong = |row: usize, reason: String| Error::Observation { file: file.to_owned(), row, reason };
        let mut lines = text.trim_start_matches('\u{feff}').lines();
        let names: Vec<String> = cells(lines.next().unwrap_or_default()).map(str::to_owned).collect();
        if names.iter().any(String::is_empty) {
            return Err(wrong(1, "a column without a name; start the file with a header such as 'A,S,T'".to_owned()));
        }
        let distinct: BTreeSet<&String> = names.iter().collect();
        if distinct.len() != names.len() {
            return Err(wrong(1, "two columns of one name; rename one of them".to_owned()));
        }
        let mut raw: Vec<Vec<&str>> = vec![Vec::new(); names.len()];
        for (index, line) in lines.enumerate() {
            let row = index + 2;
            let found: Vec<&str> = cells(line).collect();
            if found.len() != names.len() {
                let reason = format!(
                    "{} values where the header names {} variables; complete or drop the row",
                    found.len(),
                    names.len()
                );
                return Err(wrong(row, reason));
            }
            for (column, (value, name)) in raw.iter_mut().zip(found.into_iter().zip(&names)) {
                if matches!(value, "" | "NA" | "NaN" | "?") {
                    return Err(wrong(row, format!("no value for '{name}'; drop the row or fill it in")));
                }
                column.push(value);
            }
        }
        if raw[0].is_empty() {
            return Err(wrong(2, "no observations; give at least one row below the header".to_owned()));
        }
        let mut levels = Vec::with_capacity(names.len());
        let mut columns = Vec::with_capacity(names.len());
        for (column, name) in raw.into_iter().zip(&names) {
            let known: Vec<&str> = column.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
            if known.len() > MAX_LEVELS {
                let reason = format!("'{name}' has {} levels, more than {MAX_LEVELS}; bin it", known.len());
                return Err(wrong(1, reason));
            }
            let number = |value: &str| known.binary_search(&value).expect("collected above") as u8;
            columns.push(column.iter().map(|value| number(value)).collect());
            levels.push(known.into_iter().map(str::to_owned).collect());
        }
        Ok(Observations { names, levels, columns })
    }

    /// The names of the variables, in column order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of variables.
    pub fn n_variables(&self) -> usize {
        self.names.len()
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// The number of levels of a variable.
    pub fn n_levels(&self, variable: usize) -> usize {
        self.levels[variable].len()
    }

    /// The names of the levels of a variable.
    pub fn levels(&self, variable: usize) -> &[String] {
        &self.levels[variable]
    }

    /// The level of a variable in every row.
    pub fn column(&self, variable: usize) -> &[u8] {
        &self.columns[variable]
    }
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|cell| {
        let cell = cell.trim();
        cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell)
    })
}
