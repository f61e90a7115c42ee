//! Data: a table of discrete variables, read from CSV, discretised if asked for, and kept in a compact form.

mod bins;
mod csv;
mod missing;
mod table;

pub use bins::{BinRule, Bins};
pub use csv::{CsvOptions, read_csv};
pub use table::Table;
