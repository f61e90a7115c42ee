//! Progress bars with rate and time left.

use indicatif::{ProgressBar, ProgressStyle};
use pace_graph::dataset::Progress;

/// A bar over a known number of steps.
pub fn steps_bar(what: &'static str, steps: u64) -> ProgressBar {
    let template = "{msg:<24} {wide_bar} {human_pos}/{human_len} {per_sec}, {eta} left";
    ProgressBar::new(steps).with_style(style(template)).with_message(what)
}

/// A counter of rows, for files whose number of rows is not known beforehand.
pub fn rows_bar(what: &'static str) -> ProgressBar {
    ProgressBar::new_spinner().with_style(style("{msg:<24} {spinner} {human_pos} rows, {per_sec}")).with_message(what)
}

/// A reader's progress callback that moves a bar.
pub fn rows_seen(bar: &ProgressBar) -> impl FnMut(Progress) + '_ {
    |progress| bar.set_position(progress.rows as u64)
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a template of ours")
}
