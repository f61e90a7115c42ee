//! The options about a table, the same for all commands that read one.

use std::fs::File;
use std::io::{Read, stdin};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use pace_bn::{BinRule, Bins, CsvOptions, Table, read_csv};

use crate::source::shown;
use crate::terminal::Terminal;

/// A table of discrete variables.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Data")]
pub struct DataArgs {
    /// A CSV with a header, a row per observation; - for standard input
    #[arg(value_name = "CSV")]
    path: PathBuf,
    /// Leave out rows with a missing value (empty, NA, NaN, null, ?) instead of refusing the file
    #[arg(long)]
    drop_missing: bool,
    /// Cut columns of numbers with more values than this into so many bins
    #[arg(long, value_name = "N")]
    bins: Option<usize>,
    /// Where the borders between bins lie
    #[arg(long, value_enum, default_value = "quantile", requires = "bins")]
    bin_rule: BinRuleArg,
    /// Columns to leave out, e.g. id,name
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    skip: Vec<String>,
    /// What stands between two cells
    #[arg(long, value_name = "CHARACTER", default_value_t = ',')]
    separator: char,
}

/// Where the borders between bins lie.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum BinRuleArg {
    /// About equally many rows in each bin
    Quantile,
    /// Bins of equal width
    Width,
}

impl DataArgs {
    /// What the table is called, for messages.
    pub fn name(&self) -> String {
        shown(&self.path)
    }

    /// Reads the table.
    pub fn read(&self, terminal: &Terminal) -> Result<Table> {
        let Ok(separator) = u8::try_from(self.separator) else {
            bail!("--separator must be one ASCII character, such as , or ;");
        };
        let rule = match self.bin_rule {
            BinRuleArg::Quantile => BinRule::Quantile,
            BinRuleArg::Width => BinRule::Width,
        };
        let bins = self.bins.map(|count| Bins { rule, count });
        let (drop_missing, skip) = (self.drop_missing, self.skip.clone());
        let options = CsvOptions { separator, drop_missing, bins, skip, ..CsvOptions::default() };
        let reader: Box<dyn Read> = match self.path.as_os_str() == "-" {
            true => Box::new(stdin().lock()),
            false => Box::new(File::open(&self.path).with_context(|| format!("cannot read {}", self.path.display()))?),
        };
        let table = read_csv(reader, &self.name(), &options)?;
        let (n_variables, n_rows, n_distinct) = (table.n_variables(), table.n_rows(), table.n_distinct());
        terminal.say(format!("{n_variables} variables, {n_rows} rows, {n_distinct} of them different"));
        if table.n_dropped() > 0 {
            terminal.say(format!("left out {} rows with a missing value", table.n_dropped()));
        }
        Ok(table)
    }
}
