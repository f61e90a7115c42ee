//! Attention on blocks of rows.
//!
//! [`masked`] serves blocks of graphs under a mask, [`lists`] packed rows along lists of keys. [`gather`] is how they find rows,
//! [`order`] how columns belong to heads, [`softmax`] what all of them share.

mod gather;
pub(crate) mod lists;
pub(crate) mod masked;
mod order;
mod softmax;

pub(crate) use masked::{Geometry, Grads, Rows, Scratch};
pub(crate) use order::{Order, has_lanes};
pub(crate) use softmax::{softmax, softmax_grad};
