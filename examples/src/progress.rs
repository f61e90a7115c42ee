//! Progress bars with rate and time left.

use indicatif::{ProgressBar, ProgressStyle};
use pace_graph::dataset::Progress;
use pace_train::Event;

/// A bar over a known number of steps.
pub fn steps_bar(what: impl Into<String>, steps: u64) -> ProgressBar {
    let template = "{msg:<24} {wide_bar} {human_pos}/{human_len} {per_sec}, {eta} left";
    ProgressBar::new(steps).with_style(style(template)).with_message(what.into())
}

/// A counter of rows, for files whose number of rows is not known beforehand.
pub fn rows_bar(what: &'static str) -> ProgressBar {
    ProgressBar::new_spinner().with_style(style("{msg:<24} {spinner} {human_pos} rows, {per_sec}")).with_message(what)
}

/// A reader's progress callback that moves a bar.
pub fn rows_seen(bar: &ProgressBar) -> impl FnMut(Progress) + '_ {
    |progress| bar.set_position(progress.rows as u64)
}

/// A bar of training: graphs, graphs per second, time left, loss.
pub fn fit_bar(what: &str) -> (ProgressBar, impl FnMut(&Event<'_>) + use<>) {
    let template = "{prefix:<18} {msg:<16} {wide_bar} {human_pos}/{human_len} graphs, {per_sec}, {eta} left";
    let bar = ProgressBar::new(0).with_style(style(template)).with_prefix(what.to_owned());
    let seen = bar.clone();
    let observe = move |event: &Event<'_>| match event {
        Event::Start { step, n_steps, graphs_per_step, .. } => {
            seen.set_length((n_steps * graphs_per_step) as u64);
            seen.set_position((step * graphs_per_step) as u64);
            // Graphs of an earlier process say nothing about the speed of this one.
            seen.reset_eta();
        }
        Event::FellBack { damage } => {
            seen.suspend(|| eprintln!("warning: {damage}; meanwhile the training resumes from the checkpoint before"));
        }
        Event::Steps { graphs, loss, .. } => {
            seen.inc(*graphs as u64);
            seen.set_message(format!("loss {loss:.4}"));
        }
        _ => {}
    };
    (bar, observe)
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a template of ours")
}
