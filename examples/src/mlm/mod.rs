//! The experiments with masked language modelling (Table 2 of the paper), on NAS-Bench-101 and NAS-Bench-301.
//!
//! In the order of the work: [`MlmArgs`] are the options, [`MlmPlan`] and [`SearchPlan`] what they ask for;
//! [`pretrain_and_embed`] trains an encoder without labels and gives every graph a vector; [`search_all`] searches by the
//! methods of `methods.rs`; [`record_searches`] and [`report_searches`] say what came out.

mod args;
mod methods;
mod plan;
mod pretrain;
mod searches;

pub use args::MlmArgs;
pub use methods::{MethodId, VectorsOf, dngo_methods};
pub use plan::MlmPlan;
pub use pretrain::{Embedded, MlmData, Vectoriser, pretrain_and_embed};
pub use searches::{Method, SearchPlan, SearchRow, record_searches, report_searches, search_all};
