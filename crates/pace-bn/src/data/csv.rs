//! [`read_csv`]: from comma-separated text to a [`Table`].

use std::collections::HashMap;
use std::io::Read;

use serde::{Deserialize, Serialize};

use super::bins::Bins;
use super::missing::is_missing;
use super::table::{MAX_LEVELS, Table};
use crate::error::Error;

/// What a CSV file looks like, and what to do with what is not a discrete value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CsvOptions {
    /// What stands between two cells.
    pub separator: u8,
    /// Leave out rows with a missing value instead of refusing the file.
    pub drop_missing: bool,
    /// Cut columns of numbers into bins.
    pub bins: Option<Bins>,
    /// Columns to leave out.
    pub skip: Vec<String>,
    /// A column with more levels than this is refused: it looks like an identifier or a measurement.
    pub max_levels: usize,
}

impl Default for CsvOptions {
    fn default() -> CsvOptions {
        CsvOptions { separator: b',', drop_missing: false, bins: None, skip: Vec::new(), max_levels: 256 }
    }
}

/// Reads a table with a header, row by row. Messages name `file`.
///
/// The levels of a column are the values that occur, sorted. Cells are trimmed. A missing value (empty, `NA`, `N/A`, `NaN`,
/// `nan`, `null` or `?`) is an error that names line and column, unless such rows are dropped. Memory holds two to four bytes
/// per cell, and each distinct value of a column once.
///
/// # Errors
/// If the file cannot be read, is no table, or holds something that the options do not allow.
pub fn read_csv(reader: impl Read, file: &str, options: &CsvOptions) -> Result<Table, Error> {
    if let Some(bins) = &options.bins {
        bins.check()?;
    }
    let mut reader =
        csv::ReaderBuilder::new().delimiter(options.separator).trim(csv::Trim::All).flexible(true).from_reader(reader);
    let whole = |reason: String| Error::Table { file: file.to_owned(), reason };
    let header = reader.headers().map_err(|error| whole(damage(&error)))?.clone();
    let names: Vec<String> = header.iter().map(|name| name.trim_start_matches('\u{feff}').to_owned()).collect();
    if names.iter().all(String::is_empty) {
        return Err(whole("the file is empty; give a header line such as 'a,b,c' and rows below it".to_owned()));
    }
    check_names(&names, &options.skip).map_err(whole)?;
    let kept: Vec<usize> = (0..names.len()).filter(|&column| !options.skip.contains(&names[column])).collect();
    let mut columns: Vec<Raw> = kept.iter().map(|_| Raw::default()).collect();
    let (mut record, mut n_dropped) = (csv::StringRecord::new(), 0);
    while reader.read_record(&mut record).map_err(|error| whole(damage(&error)))? {
        let line = record.position().map_or(0, csv::Position::line);
        let wrong = |reason: String| Error::Line { file: file.to_owned(), line, reason };
        if record.len() != names.len() {
            let (found, wanted) = (record.len(), names.len());
            return Err(wrong(format!("{found} values where the header names {wanted} columns; complete or drop it")));
        }
        match kept.iter().find(|&&column| is_missing(&record[column])) {
            Some(_) if options.drop_missing => {
                n_dropped += 1;
                continue;
            }
            Some(&column) => {
                let name = &names[column];
                return Err(wrong(format!("no value for '{name}'; fill it in, or drop rows with missing values")));
            }
            None => {}
        }
        for (raw, &column) in columns.iter_mut().zip(&kept) {
            raw.push(&record[column]);
            if raw.is_refused(options) {
                let reason = format!(
                    "more than {} levels by line {line}; if it is a measurement, cut it into bins; if it is an identifier, skip it",
                    options.max_levels.min(MAX_LEVELS)
                );
                return Err(Error::Column { file: file.to_owned(), column: names[column].clone(), reason });
            }
        }
    }
    let names: Vec<String> = kept.into_iter().map(|column| names[column].clone()).collect();
    let (levels, columns): (Vec<_>, Vec<_>) = columns.into_iter().map(|raw| raw.finish(options)).unzip();
    if n_dropped > 0 && columns.first().is_some_and(Vec::is_empty) {
        return Err(whole(format!("all {n_dropped} rows have a missing value; skip the columns that miss most")));
    }
    Table::named(file, names, levels, columns, n_dropped)
}

/// A column while it is read: the distinct texts, and which one each row has.
#[derive(Default)]
struct Raw {
    numbers: HashMap<String, u32>,
    rows: Vec<u32>,
    /// Whether a value was found that is no finite number.
    has_text: bool,
}

impl Raw {
    fn push(&mut self, cell: &str) {
        let number = match self.numbers.get(cell) {
            Some(&number) => number,
            None => {
                let number = self.numbers.len() as u32;
                self.numbers.insert(cell.to_owned(), number);
                self.has_text |= number_of(cell).is_none();
                number
            }
        };
        self.rows.push(number);
    }

    /// Whether it has too many levels, and is not going to be cut.
    fn is_refused(&self, options: &CsvOptions) -> bool {
        let is_cut = options.bins.is_some() && !self.has_text;
        self.numbers.len() > options.max_levels.min(MAX_LEVELS) && !is_cut
    }

    /// The levels, and the level of each row.
    fn finish(self, options: &CsvOptions) -> (Vec<String>, Vec<u16>) {
        let mut texts: Vec<(String, u32)> = self.numbers.into_iter().collect();
        texts.sort_unstable();
        if let Some(bins) = options.bins.filter(|bins| !self.has_text && texts.len() > bins.count) {
            let mut values = vec![0.0; texts.len()];
            texts.iter().for_each(|(text, number)| values[*number as usize] = number_of(text).unwrap_or_default());
            let rows: Vec<f64> = self.rows.iter().map(|&number| values[number as usize]).collect();
            return bins.cut(&rows);
        }
        let mut level = vec![0; texts.len()];
        texts.iter().enumerate().for_each(|(index, (_, number))| level[*number as usize] = index as u16);
        let rows = self.rows.iter().map(|&number| level[number as usize]).collect();
        (texts.into_iter().map(|(text, _)| text).collect(), rows)
    }
}

fn number_of(cell: &str) -> Option<f64> {
    cell.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Refuses names that leave open which column is meant.
fn check_names(names: &[String], skip: &[String]) -> Result<(), String> {
    let mut seen = HashMap::new();
    for (index, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(format!("line 1: column {} has no name; give every column one", index + 1));
        }
        if let Some(first) = seen.insert(name.as_str(), index) {
            return Err(format!(
                "line 1: columns {} and {} are both '{name}'; rename one of them",
                first + 1,
                index + 1
            ));
        }
    }
    match skip.iter().find(|name| !seen.contains_key(name.as_str())) {
        Some(name) => Err(format!("there is no column '{name}' to skip; the columns are {}", names.join(", "))),
        None => Ok(()),
    }
}

/// What the parser says, with what to do.
fn damage(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Utf8 { .. } => format!("not UTF-8 ({error}); save the file as UTF-8"),
        _ => format!("cannot be read ({error}); check the file"),
    }
}
