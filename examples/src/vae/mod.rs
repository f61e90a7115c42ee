//! The experiments with a variational autoencoder (Tables 1, 6 and 7 of the paper), on NA and BN.
//!
//! In the order of the work: [`VaeArgs`] are the options, [`VaeProgram`] turns them into a [`VaePlan`] and loads
//! [`VaeData`]; `pipeline.rs` trains encoders, scores their vectors with surrogates, decodes and searches; `metrics.rs` is
//! the table of what came out, `report.rs` the page.

mod args;
mod data;
mod decode;
mod metrics;
mod pipeline;
mod plan;
mod program;
mod report;
mod score;
mod search;
mod tune;
mod vectors;

pub use args::VaeArgs;
pub use data::VaeData;
pub use metrics::PaperRow;
pub use plan::{Plans, Tried, VaePlan};
pub use program::{Checked, RawFeatures, VaeProgram};
pub use score::Gp;
pub use search::{Judge, LatentPlan, Learner, SearchPlan};
