//! draft
mod canon;
mod dag;
mod dag2seq;
pub mod enumerate;
mod error;
mod spec;
pub mod structure;
mod text;
mod validity;

pub use canon::{CANON_ID, Canonical, GroupSize, Method, canonical, canonical_order, canonicalise};
pub use dag::{Dag, Op};
pub use dag2seq::{Item, Sequence, dag2seq, dag2seq_all, seq2dag};
pub use error::Error;
pub use spec::DagSpec;
pub use validity::Validity;
