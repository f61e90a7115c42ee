//! Attention on blocks of rows.
//!
//! [`Geometry`] describes a block of graphs under a mask and chooses between [`lanes`], for small graphs, and [`matrices`], for
//! any. [`lists`] goes along lists of keys and [`along`] does so keeping nothing, for inference. [`single`] serves one query at a
//! time. [`gather`] is how they find rows, [`order`] how columns belong to heads, [`softmax`] what all of them share.

pub(crate) mod along;
mod gather;
mod geometry;
mod lanes;
pub(crate) mod lists;
mod matrices;
mod order;
pub(crate) mod single;
mod softmax;

pub(crate) use geometry::{Geometry, Grads, Rows, Scratch};
pub(crate) use order::{Order, has_lanes};
pub(crate) use softmax::{softmax, softmax_grad};
