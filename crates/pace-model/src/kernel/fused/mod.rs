//! The fused path: f32 on the flex backend.
//!
//! From the outside in: [`ops`] are the operations as Burn sees them and [`lift`] the seam to it; [`stack`] spreads a batch
//! over threads, and [`shared`] does so for inference, equal pasts once; [`sublayer`] is the mathematics of a block; [`parts`] are attention and add-and-norm by themselves;
//! [`attend`] chooses between [`lanes`] and [`heads`], [`sparse`] goes along lists of keys and [`direct`] serves
//! single queries, both by [`pairwise`]; [`likelihood`] is the decoder's heads and their loss; [`adam`] is
//! the optimiser; [`linear`], [`rows`] and [`simd`] are the loops and [`pool`] their memory.

pub(super) mod adam;
mod attend;
mod direct;
mod heads;
mod lanes;
pub(super) mod lift;
pub(super) mod likelihood;
mod linear;
pub(super) mod ops;
mod pairwise;
pub(super) mod parts;
mod pool;
mod rows;
mod shared;
mod simd;
pub(super) mod sparse;
mod stack;
mod sublayer;
