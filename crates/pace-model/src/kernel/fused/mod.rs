//! The fused path: f32 on the flex backend.
//!
//! From the outside in: [`ops`] are the operations as Burn sees them and [`lift`] the seam to it; [`stack`] spreads a batch
//! over threads, [`large`] a single graph that is larger than its share; [`sublayer`] is the mathematics of a block, [`reading`]
//! that of a block of which few rows are read; [`parts`] are attention and add-and-norm by themselves; [`attention`] is what they
//! share.
//!
//! Where only values are wanted: [`shared`] computes equal pasts once, of which [`concat`] makes graph vectors, and
//! [`inference`] takes packed rows through all blocks; both by [`ready`], a block whose weights are laid out.
//!
//! [`embedding`] is what comes before the blocks and [`likelihood`] the decoder's heads and their loss; [`adam`] is the
//! optimiser; [`products`] and [`rows`] are the loops, [`simd`] the words they are written in, and [`pool`] their memory.

pub(super) mod adam;
pub(super) mod attention;
pub(super) mod concat;
pub(super) mod embedding;
pub(super) mod inference;
mod large;
pub(super) mod lift;
pub(super) mod likelihood;
pub(super) mod ops;
pub(super) mod parts;
mod pool;
pub(super) mod products;
mod reading;
pub(super) mod reads;
mod ready;
mod rows;
pub(super) mod shared;
pub(super) mod simd;
mod stack;
mod sublayer;
