//! Attention on chunks of rows.
//!
//! Two cases: [`masked`] serves graphs of equal size under a mask, [`lists`] packed rows along lists of keys. Both find rows by
//! [`gather`], know from [`order`] which columns belong to which head, and share one [`softmax`].

mod gather;
pub(crate) mod lists;
pub(crate) mod masked;
mod order;
mod packed;
mod softmax;

pub(crate) use masked::{Geometry, Grads, Rows, Scratch};
pub(crate) use order::{Order, has_lanes};
pub(crate) use packed::Packed;
pub(crate) use softmax::{softmax, softmax_grad};
