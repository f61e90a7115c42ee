//! [`Terminal`]: what is said, and how: text for people, JSON for programs, nothing on request.

use std::io::{IsTerminal, Write, stdout};

use anyhow::Result;
use indicatif::ProgressBar;
use serde::Serialize;

/// The options about output, the same for all commands.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Terminal {
    /// Print the result as one JSON object, and nothing else
    #[arg(long, global = true)]
    pub json: bool,
    /// Print no progress and no remarks
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

impl Terminal {
    /// A remark for people, beside the result.
    pub fn say(&self, text: impl AsRef<str>) {
        if !self.quiet && !self.json {
            eprintln!("{}", text.as_ref());
        }
    }

    /// Something a user should know, even if they asked for quiet.
    pub fn warn(&self, text: impl AsRef<str>) {
        eprintln!("pace: warning: {}", text.as_ref());
    }

    /// The result: text for people, or the value itself.
    ///
    /// # Errors
    /// If nobody reads it.
    pub fn result(&self, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
        let text = if self.json { serde_json::to_string_pretty(value)? } else { text() };
        writeln!(stdout(), "{}", text.trim_end())?;
        Ok(())
    }

    /// A progress bar, which shows only on a terminal.
    pub fn bar(&self, bar: ProgressBar) -> ProgressBar {
        if self.quiet || self.json || !std::io::stderr().is_terminal() {
            bar.set_draw_target(indicatif::ProgressDrawTarget::hidden());
        }
        bar
    }
}

/// Rows of words as columns: the first left, the others right.
pub fn columns(rows: &[Vec<String>]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|word| word.chars().count()).max();
    let widths: Vec<usize> = (0..n_columns).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let words = row.iter().zip(&widths).enumerate().map(|(column, (word, &width))| match column {
            0 => format!("{word:<width$}"),
            _ => format!("  {word:>width$}"),
        });
        format!("{}\n", words.collect::<String>().trim_end())
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::columns;

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".to_owned(), "1".to_owned()], vec!["bc".to_owned(), "100".to_owned()]];
        assert_eq!(columns(&rows), "a     1\nbc  100\n");
        assert_eq!(columns(&[]), "");
    }
}
