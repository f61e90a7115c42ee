//! The last block of a stack of which only some rows are read.

pub(crate) mod block;
pub(crate) mod reads;
