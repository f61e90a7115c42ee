//! What the example programs share: options, progress bars, the pipeline of the VAE tables, and reports.

mod args;
mod progress;
mod report;
mod score;
mod vae;
mod vae_data;
mod vae_plan;
mod vae_program;
mod vae_report;

pub use args::{Preset, RunArgs, VaeArgs};
pub use progress::{fit_bar, rows_bar, rows_seen, steps_bar};
pub use report::{Bars, Line, Report, bar_chart, line_chart};
pub use score::{Gp, Score, Scored, score};
pub use vae::{EncoderOutcome, VaeOutcome, VaeTask, reproduce};
pub use vae_data::VaeData;
pub use vae_plan::VaePlan;
pub use vae_program::{VaeProgram, VaeProgramArgs};
pub use vae_report::{PaperRow, record, report};
