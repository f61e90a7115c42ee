//! Stacks of blocks of which only values are wanted: nothing is kept for a backward pass.

pub(crate) mod block;
pub(crate) mod concat_linear;
pub(crate) mod packed;
pub(crate) mod shared_pasts;
