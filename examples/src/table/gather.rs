//! What the encoders of a row found, from their results.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use pace_train::record::Metric;
use serde::Deserialize;

use super::row::Row;

/// What a table needs of `results.json`.
#[derive(Debug, Deserialize)]
struct Results {
    data: pace_train::record::DataKind,
    data_note: String,
    metrics: BTreeMap<String, Option<MaybeMetric>>,
    seconds: BTreeMap<String, f64>,
}

/// A number that may be none.
#[derive(Debug, Deserialize)]
struct MaybeMetric {
    mean: Option<f64>,
    std: Option<f64>,
    n: usize,
}

/// A row with the numbers of its encoders.
#[derive(Debug)]
pub struct RowResults<'a> {
    /// The row.
    pub row: &'a Row,
    /// Of each encoder that is done.
    encoders: Vec<Results>,
}

impl<'a> RowResults<'a> {
    /// Reads what is there; an encoder without results is left out.
    pub fn read<'d>(row: &'a Row, dirs: impl Iterator<Item = &'d Path>) -> Result<RowResults<'a>> {
        let mut encoders = Vec::new();
        for path in dirs.map(|dir| dir.join("results.json")).filter(|path| path.exists()) {
            let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let results = serde_json::from_str(&text);
            encoders.push(results.with_context(|| {
                format!("{} is of another version of the programs; delete its folder and run again", path.display())
            })?);
        }
        Ok(RowResults { row, encoders })
    }

    /// How many encoders are done.
    pub fn n_encoders(&self) -> usize {
        self.encoders.len()
    }

    /// Where the data came from.
    pub fn data(&self) -> Option<(pace_train::record::DataKind, &str)> {
        self.encoders.first().map(|results| (results.data, results.data_note.as_str()))
    }

    /// Seconds of all stages of all encoders; `None` for a control.
    pub fn seconds(&self) -> Option<f64> {
        if !self.row.reads.is_empty() {
            return None;
        }
        Some(self.encoders.iter().flat_map(|results| results.seconds.values()).sum())
    }

    /// A number: over several encoders the mean of their means and its spread, of one encoder its own spread.
    pub fn metric(&self, id: &str) -> Option<Metric> {
        let reads = &self.row.reads;
        let id = match reads.iter().find(|(column, _)| *column == id) {
            Some((_, other)) => other,
            None if reads.is_empty() => id,
            None => return None,
        };
        let of = |results: &Results| {
            let found = results.metrics.get(id)?.as_ref()?;
            Some(Metric { mean: found.mean?, std: found.std.unwrap_or(f64::NAN), n: found.n })
        };
        let all: Vec<Metric> = self.encoders.iter().filter_map(of).collect();
        match all[..] {
            [] => None,
            [one] => Some(one),
            _ => {
                let over = Metric::over(&all.iter().map(|metric| metric.mean).collect::<Vec<f64>>());
                Some(Metric { n: all.iter().map(|metric| metric.n).sum(), ..over })
            }
        }
    }
}
