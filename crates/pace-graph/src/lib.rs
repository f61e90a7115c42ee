//! draft
mod canon;
mod dag;
mod dag2seq;
pub mod dataset;
mod error;
mod input;
mod spec;
mod split;
pub mod structure;
mod text;
mod validity;

pub use canon::{canonical, canonical_order};
pub use dag::{Dag, Op};
pub use error::Error;
pub use spec::DagSpec;
pub use split::{Split, python_shuffle, split_in_order, split_reference};
pub use validity::Validity;
