//! Progress bars with rate and time left.

use indicatif::{ProgressBar, ProgressStyle};
use pace_train::Event;

/// A bar over a known number of steps.
pub fn steps(what: impl Into<String>, steps: usize) -> ProgressBar {
    let template = "{msg:<20} {wide_bar} {human_pos}/{human_len} {per_sec}, {eta} left";
    ProgressBar::new(steps as u64).with_style(style(template)).with_message(what.into())
}

/// A counter of graphs, for sources whose number of graphs is not known beforehand.
pub fn graphs(what: impl Into<String>) -> ProgressBar {
    ProgressBar::new_spinner()
        .with_style(style("{msg:<20} {spinner} {human_pos} graphs, {per_sec}"))
        .with_message(what.into())
}

/// A bar of training: graphs, graphs per second, time left.
pub fn training() -> ProgressBar {
    ProgressBar::new(0).with_style(style("{msg:<20} {wide_bar} {human_pos}/{human_len} graphs, {per_sec}, {eta} left"))
}

/// Moves a bar of training.
pub fn observe(bar: &ProgressBar, event: &Event<'_>) {
    match event {
        Event::Start { step, n_steps, graphs_per_step, .. } => {
            bar.set_length((n_steps * graphs_per_step) as u64);
            bar.set_position((step * graphs_per_step) as u64);
            // Graphs of an earlier process say nothing about the speed of this one.
            bar.reset_eta();
        }
        Event::FellBack { damage } => {
            bar.suspend(|| eprintln!("pace: warning: {damage}; the training resumes from the checkpoint before"));
        }
        Event::Steps { graphs, loss, .. } => {
            bar.inc(*graphs as u64);
            bar.set_message(format!("loss {loss:.4}"));
        }
        _ => {}
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a template of ours")
}
