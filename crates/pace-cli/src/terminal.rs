//! [`Terminal`]: what is said, and how: text for people, JSON for programs, nothing on request.

use std::io::{IsTerminal, Write, stdout};

use anyhow::Result;
use indicatif::ProgressBar;
use pace_train::collective::Collective;
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
    /// Nothing at all is said: another process does.
    #[arg(skip)]
    pub mute: bool,
}

impl Terminal {
    /// The terminal of one of several processes: rank 0 speaks for all.
    pub fn of(self, ranks: &dyn Collective) -> Terminal {
        Terminal { mute: ranks.rank() > 0, ..self }
    }

    /// A remark for people, beside the result.
    pub fn say(&self, text: impl AsRef<str>) {
        if !self.quiet && !self.json && !self.mute {
            eprintln!("{}", text.as_ref());
        }
    }

    /// Something a user should know, even if they asked for quiet.
    pub fn warn(&self, text: impl AsRef<str>) {
        if !self.mute {
            eprintln!("pace: warning: {}", text.as_ref());
        }
    }

    /// The result: text for people, or the value itself.
    ///
    /// # Errors
    /// If nobody reads it.
    pub fn result(&self, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
        if self.mute {
            return Ok(());
        }
        let text = if self.json { serde_json::to_string_pretty(value)? } else { text() };
        writeln!(stdout(), "{}", text.trim_end())?;
        Ok(())
    }

    /// A progress bar, which shows only on a terminal.
    pub fn bar(&self, bar: ProgressBar) -> ProgressBar {
        if self.quiet || self.json || self.mute || !std::io::stderr().is_terminal() {
            bar.set_draw_target(indicatif::ProgressDrawTarget::hidden());
        }
        bar
    }
}

/// Rows of words as columns, numbers to the right; the first row is the head.
pub fn columns(rows: &[Vec<String>]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|word| word.chars().count()).max();
    let widths: Vec<usize> = (0..n_columns).map(|column| width(column).unwrap_or(0)).collect();
    let is_number = |column: usize| {
        let words = rows.iter().skip(1).filter_map(|row| row.get(column)).filter(|word| !word.is_empty());
        let begins = |word: &String| word.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        column > 0 && words.clone().count() > 0 && words.clone().all(begins)
    };
    let numbers: Vec<bool> = (0..n_columns).map(is_number).collect();
    let line = |row: &Vec<String>| {
        let words = row.iter().enumerate().map(|(column, word)| {
            let (width, gap) = (widths[column], if column == 0 { "" } else { "  " });
            if numbers[column] { format!("{gap}{word:>width$}") } else { format!("{gap}{word:<width$}") }
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
        let row = |words: [&str; 3]| words.map(str::to_owned).to_vec();
        let rows = [row(["", "n", "what"]), row(["a", "1", "x"]), row(["bc", "-100", "yz"])];
        assert_eq!(columns(&rows), "       n  what\na      1  x\nbc  -100  yz\n");
        assert_eq!(columns(&[]), "");
    }
}
