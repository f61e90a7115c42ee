//! Progress bars with rate and time left.

use std::ops::ControlFlow;

use indicatif::{ProgressBar, ProgressStyle};
use pace_kit::Watch;
use pace_train::Event;

use crate::terminal::Terminal;

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
pub struct Bar<'a> {
    bar: ProgressBar,
    terminal: &'a Terminal,
}

impl<'a> Bar<'a> {
    /// A bar that nothing has happened on.
    pub fn new(terminal: &'a Terminal) -> Bar<'a> {
        let template = "{msg:<20} {wide_bar} {human_pos}/{human_len} graphs, {per_sec}, {eta} left";
        Bar { bar: terminal.bar(ProgressBar::new(0).with_style(style(template))), terminal }
    }
}

impl Watch for Bar<'_> {
    fn event(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Start { step, n_steps, graphs_per_step, .. } => {
                self.bar.set_length((n_steps * graphs_per_step) as u64);
                self.bar.set_position((step * graphs_per_step) as u64);
                // Graphs of an earlier process say nothing about the speed of this one.
                self.bar.reset_eta();
            }
            Event::FellBack { damage } => {
                self.bar.suspend(|| {
                    self.terminal.warn(format!("{damage}; the training resumes from the checkpoint before"))
                });
            }
            Event::Steps { graphs, loss, .. } => {
                self.bar.inc(*graphs as u64);
                self.bar.set_message(format!("loss {loss:.4}"));
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn say(&mut self, text: &str) {
        self.bar.suspend(|| self.terminal.say(text));
    }
}

impl Drop for Bar<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a template of ours")
}
