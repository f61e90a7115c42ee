//! How far a download is: a bar on a terminal, a line now and then in a log.

use std::time::{Duration, Instant};

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Between two lines of a log.
const PAUSE: Duration = Duration::from_secs(10);

/// The progress of one file.
pub struct Progress {
    name: String,
    /// Draws nothing without a terminal.
    bar: ProgressBar,
    /// When the last line was written; `None` on a terminal.
    last_line: Option<Instant>,
}

impl Progress {
    /// Of the file called `name`; on a terminal if standard error is one.
    pub fn new(name: &str, n_bytes: Option<u64>) -> Progress {
        let bar = ProgressBar::with_draw_target(n_bytes, ProgressDrawTarget::stderr()).with_message(name.to_owned());
        let last_line = bar.is_hidden().then(Instant::now);
        let progress = Progress { name: name.to_owned(), bar, last_line };
        progress.set_style(n_bytes.is_some());
        progress
    }

    /// A request was answered: `have` bytes are there, `total` are wanted if anybody knows.
    pub fn start(&self, have: u64, total: Option<u64>) {
        self.set_style(total.is_some());
        match total {
            Some(total) => self.bar.set_length(total),
            None => self.bar.unset_length(),
        }
        self.bar.set_position(have);
        // Else what is resumed would count as speed.
        self.bar.reset_eta();
    }

    /// More bytes have arrived.
    pub fn add(&mut self, n_bytes: u64) {
        self.bar.inc(n_bytes);
        if self.last_line.is_some_and(|last| last.elapsed() >= PAUSE) {
            self.last_line = Some(Instant::now());
            eprintln!("fetch: {}: {}", self.name, line(self.bar.position(), self.bar.length()));
        }
    }

    /// Writes a line above the bar. Not by the bar: it prints nothing without a terminal, and a log should say so too.
    pub fn say(&self, message: &str) {
        self.bar.suspend(|| eprintln!("fetch: {}: {message}", self.name));
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn set_style(&self, has_total: bool) {
        let template = match has_total {
            true => "{msg} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec}, {eta} left",
            false => "{msg} {spinner} {bytes} {bytes_per_sec}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
    }
}

/// A line of a log.
fn line(have: u64, total: Option<u64>) -> String {
    match total.filter(|&total| total > 0) {
        Some(total) => format!("{} of {} ({} %)", HumanBytes(have), HumanBytes(total), have * 100 / total),
        None => HumanBytes(have).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_line_says_how_much_is_there() {
        assert_eq!(line(512 << 10, Some(2 << 20)), "512.00 KiB of 2.00 MiB (25 %)");
        assert_eq!(line(1 << 20, None), "1.00 MiB");
    }
}
