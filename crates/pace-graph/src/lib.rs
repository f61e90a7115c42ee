//! draft
mod canon;
mod dag;
mod dag2seq;
mod error;
mod spec;
pub mod structure;
mod text;
mod validity;

pub use canon::{canonical, canonical_order};
pub use dag::{Dag, Op};
pub use error::Error;
pub use spec::DagSpec;
pub use validity::Validity;
