//! Transformer blocks on a batch, forward and backward.

pub(crate) mod large_graph;
pub(crate) mod stack;
pub(crate) mod sublayer;
