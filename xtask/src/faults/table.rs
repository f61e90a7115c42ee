//! [`Table`]: what was done to the programs, and what came of it.

use std::fmt;

use anyhow::{Result, bail};

/// One row per kind of fault.
#[derive(Default)]
pub struct Table {
    rows: Vec<Row>,
}

struct Row {
    fault: String,
    times: usize,
    /// What came of it, or what went wrong.
    outcome: Result<String, String>,
}

impl Table {
    /// Adds a row, and says so at once: the whole takes minutes.
    pub fn add(&mut self, fault: impl Into<String>, times: usize, outcome: Result<String>) {
        let row = Row { fault: fault.into(), times, outcome: outcome.map_err(|error| format!("{error:#}")) };
        println!("faults: {row}");
        self.rows.push(row);
    }

    /// Errs if a row went wrong.
    pub fn verdict(&self) -> Result<()> {
        match self.rows.iter().filter(|row| row.outcome.is_err()).count() {
            0 => Ok(()),
            n => bail!(
                "{n} of {} faults did harm; the table says which, and target/faults holds the folders",
                self.rows.len()
            ),
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mark, text) = match &self.outcome {
            Ok(text) => ("ok", text),
            Err(text) => ("HARM", text),
        };
        write!(f, "{:<44} {:>3} x  {mark}: {text}", self.fault, self.times)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        self.rows.iter().try_for_each(|row| writeln!(f, "{row}"))
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::Table;

    #[test]
    fn one_row_of_harm_fails_the_table() {
        let mut table = Table::default();
        table.add("kill -9", 20, Ok("same bits".to_owned()));
        assert!(table.verdict().is_ok());
        table.add("full disk", 5, Err(anyhow!("results.json differs")));
        assert!(table.verdict().unwrap_err().to_string().contains("1 of 2 faults"));
        assert!(table.to_string().contains("HARM: results.json differs"));
    }
}
