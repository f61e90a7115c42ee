//! F1 on validation functions over the time of a training.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::report::{Line, Report, line_chart};

/// A moment of a training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Steps done.
    pub step: usize,
    /// Seconds of training.
    pub seconds: f64,
    /// On validation functions.
    pub f1: f64,
}

/// A line of the log that holds a moment.
#[derive(Debug, Serialize, Deserialize)]
pub struct Logged {
    /// The moment.
    pub curve: Moment,
}

/// The moments in a log. A killed run that resumed has some twice; the last counts.
///
/// # Errors
/// If the log cannot be read.
pub fn read(events: &Path) -> Result<Vec<Moment>> {
    let text = std::fs::read_to_string(events).with_context(|| format!("cannot read {}", events.display()))?;
    let moments = text.lines().filter_map(|line| serde_json::from_str::<Logged>(line).ok()).map(|logged| logged.curve);
    Ok(moments.map(|moment| (moment.step, moment)).collect::<BTreeMap<_, _>>().into_values().collect())
}

/// One line per encoder of a table.
///
/// # Errors
/// If a log cannot be read or the plot not drawn.
pub fn compare(rows: &[(&str, PathBuf)], page: &mut Report) -> Result<()> {
    let lines: Vec<Line> =
        rows.iter().map(|(title, dir)| Ok(line(title, &read(&dir.join("events.jsonl"))?))).collect::<Result<_>>()?;
    if lines.iter().any(|line| !line.points.is_empty()) {
        page.plot(line_chart("validation F1 by minutes of training", &lines));
    }
    Ok(())
}

/// F1 by minutes.
pub fn line(name: &str, moments: &[Moment]) -> Line {
    let points = moments.iter().map(|moment| (moment.seconds / 60.0, moment.f1)).collect();
    Line { name: name.to_owned(), points, band: Vec::new() }
}
