//! The fused path: f32 on the flex backend.
//!
//! From the outside in: [`ops`] are the operations as Burn sees them and [`lift`] the seam to it; [`stack`] spreads a batch
//! over threads; [`sublayer`] is the mathematics of a block; [`parts`] are attention and add-and-norm by themselves;
//! [`attend`] chooses between [`lanes`] and [`heads`], and [`sparse`] goes along lists of keys; [`linear`], [`rows`] and [`simd`] are the loops and [`pool`] their
//! memory.

mod attend;
mod heads;
mod lanes;
pub(super) mod lift;
mod linear;
pub(super) mod ops;
pub(super) mod parts;
mod pool;
mod rows;
mod simd;
pub(super) mod sparse;
mod stack;
mod sublayer;
