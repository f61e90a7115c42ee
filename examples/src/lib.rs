//! What the example programs share: options, progress bars, the pipeline of the VAE tables, and reports.

/// Of all programs here: Burn allocates a tensor per operation, and this gives the memory of the last step to the next.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod args;
mod bo;
mod methods;
mod mlm;
mod progress;
mod report;
mod score;
mod searches;
mod vae;
mod vae_data;
mod vae_plan;
mod vae_program;
mod vae_report;

pub use args::{MlmArgs, Preset, Protocol, ReachArg, ReadoutArg, RunArgs, TrainArgs, VaeArgs};
pub use bo::{BoModel, BoOutcome, BoPlan, Judge, optimise};
pub use methods::{DngoPlan, dngo_methods};
pub use mlm::{MlmData, MlmPlan, pretrain_and_embed};
pub use progress::{fit_bar, rows_bar, rows_seen, steps_bar};
pub use report::{Bars, Line, Report, bar_chart, line_chart};
pub use score::{Gp, Score, Scored, score};
pub use searches::{Found, Method, SearchPlan, report_searches, search_all};
pub use vae::{EncoderOutcome, VaeOutcome, VaeTask, reproduce};
pub use vae_data::VaeData;
pub use vae_plan::VaePlan;
pub use vae_program::{VaeProgram, VaeProgramArgs};
pub use vae_report::{PaperRow, record, report};
