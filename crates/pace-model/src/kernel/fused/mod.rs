//! The fused path: f32 on the flex backend.
//!
//! From the outside in: [`ops`] are the operations as Burn sees them and [`lift`] the seam to it; [`stack`] spreads a batch
//! over threads, [`large`] a single graph that is larger than its share; [`sublayer`] is the mathematics of a block, [`reading`]
//! that of a block of which few rows are read; [`parts`] are attention and add-and-norm by themselves; [`attend`] chooses between
//! [`lanes`] and [`heads`], [`sparse`] goes along lists of keys and [`direct`] serves single queries, both by [`pairwise`].
//!
//! Where only values are wanted: [`shared`] computes equal pasts once, of which [`concat`] makes graph vectors, and
//! [`inference`] takes packed rows through all blocks; both by [`ready`], a block whose weights are [`panels`], and [`along`],
//! attention that keeps nothing.
//!
//! [`embedding`] is what comes before the blocks and [`likelihood`] the decoder's heads and their loss; [`adam`] is the
//! optimiser; [`linear`], [`rows`] and [`simd`] are the loops and [`pool`] their memory.

pub(super) mod adam;
mod along;
mod attend;
pub(super) mod concat;
mod direct;
pub(super) mod embedding;
mod heads;
pub(super) mod inference;
mod lanes;
mod large;
pub(super) mod lift;
pub(super) mod likelihood;
mod linear;
pub(super) mod ops;
mod pairwise;
mod panels;
pub(super) mod parts;
mod pool;
mod reading;
pub(super) mod reads;
mod ready;
mod rows;
pub(super) mod shared;
mod simd;
pub(super) mod sparse;
mod stack;
mod sublayer;
