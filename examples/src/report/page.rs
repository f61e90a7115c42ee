//! [`finish`]: the last page of a run.

use std::path::PathBuf;

use anyhow::Result;
use pace_report::Report;
use pace_train::record::Run;

use super::tables::{metric_rows, stage_seconds};

/// Writes the page, its charts as files of their own for other pages, and the results of a run; returns the page's path.
///
/// The note about the data comes first, so that nobody reads a number without it; then the table of results, what `body` holds, and the
/// seconds per stage.
///
/// # Errors
/// If a file cannot be written.
pub fn finish(body: Report, run: Run) -> Result<PathBuf> {
    for (number, plot) in (1..).zip(body.plots()) {
        run.write(&format!("plot-{number}-{}.svg", slug(&plot.caption)), plot.file().as_bytes())?;
    }
    let mut page = Report::new(body.title());
    page.note(run.data_note());
    page.heading("Numbers");
    page.table(&metric_rows(&run));
    page.append(body);
    page.heading("Seconds per stage");
    page.seconds(&stage_seconds(&run));
    let path = run.write("report.html", page.html().as_bytes())?;
    run.finish(page.title())?;
    Ok(path)
}

/// A caption as part of a file name.
fn slug(caption: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric();
    caption.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect::<Vec<&str>>().join("-").to_lowercase()
}
