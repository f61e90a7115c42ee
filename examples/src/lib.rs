//! What the example programs share: their common options, progress bars, and the files a run leaves behind.

mod args;
mod progress;
mod report;
mod run;

pub use args::RunArgs;
pub use progress::{rows_bar, rows_seen, steps_bar};
pub use report::{Bars, Report, bar_chart};
pub use run::{DataKind, Metric, Run};
