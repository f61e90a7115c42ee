//! The paper's experiments: one function per dataset, [`na::run`], [`bn::run`], [`nas101::run`], [`nas301::run`] and [`code2::run`].
//!
//! [`speed::run`] measures how fast encoders are. The binaries of the same names choose the allocator, size the thread pool and
//! call the function. What happens then, in order:
//!
//! 1. options ([`RunArgs`], and those of `vae/args.rs` or `mlm/args.rs`) become a plan, which says how much work is done
//!    with which settings;
//! 2. a [`Run`](pace_train::record::Run) opens the folder of the results, or resumes what a killed run left there;
//! 3. the pipeline trains and measures, stage by stage: `vae/pipeline.rs` for NA and BN, `mlm/` for NAS-Bench-101 and 301,
//!    `code2/` for syntax trees;
//! 4. `metrics.rs` of each experiment lists its numbers with titles and the paper's values; `results.json` carries that
//!    table, and `report.html` and `cargo xtask report` print it.

mod args;
pub mod bn;
pub mod code2;
mod metrics;
mod mlm;
pub mod na;
pub mod nas101;
pub mod nas301;
mod progress;
mod report;
pub mod speed;
mod table;
mod train;
mod vae;

pub use args::{Preset, RunArgs, TrainArgs};
pub use mlm::MlmArgs;
pub use vae::VaeArgs;
