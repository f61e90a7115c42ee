//! The fused path: f32 on the flex backend.
//!
//! From the outside in: [`ops`] are the operations as Burn sees them and [`autodiff`] the seam to it; [`block`] takes batches through
//! Transformer blocks in training; [`some_rows`] computes a block of which few rows are read, [`inference`] blocks of which only values
//! are wanted; [`parts`] are attention and add-and-norm by themselves; [`attention`] is what they share.
//!
//! [`embedding`] is what comes before the blocks and [`likelihood`] the decoder's heads and their loss; [`adam`] is the
//! optimiser; [`products`] and [`rows`] are the loops, [`simd`] the words they are written in, and [`buffer`] their memory.

pub(super) mod adam;
pub(super) mod attention;
pub(super) mod autodiff;
pub(super) mod block;
mod buffer;
pub(super) mod embedding;
pub(super) mod inference;
pub(super) mod likelihood;
pub(super) mod ops;
pub(super) mod parts;
pub(super) mod products;
mod rows;
pub(super) mod simd;
pub(super) mod some_rows;
