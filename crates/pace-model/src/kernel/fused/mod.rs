//! The fused path: f32 on the flex backend.
//!
//! One folder per case, each of which says how it goes:
//!
//! - [`block`]: blocks on a batch, forward and backward;
//! - [`some_rows`]: the last block of a stack of which only some rows are read;
//! - [`inference`]: stacks of which only values are wanted;
//! - [`attention`], [`add_norm`]: what blocks are made of, also by themselves;
//! - [`walk`]: a recurrent unit along the edges of graphs; [`gates`]: one by itself; [`linear`], [`pair_logits`]: a map of
//!   rows and a classifier of pairs;
//! - [`embedding`]: what comes before the blocks; [`likelihood`]: the decoder's heads and their loss; [`adam`]: the optimiser.
//!
//! All of them stand on the same ground: [`products`] and [`rows`] are the loops, [`tasks`] shares rows among threads, [`simd`] the vector instructions they are written
//! in, [`buffer`] their memory. [`autodiff`] is the seam to Burn, and [`named`] gives the inputs of an operation their names.

pub(super) mod adam;
pub(super) mod add_norm;
pub(super) mod attention;
pub(super) mod autodiff;
pub(super) mod block;
mod buffer;
pub(super) mod embedding;
pub(super) mod gates;
pub(super) mod inference;
pub(super) mod likelihood;
pub(super) mod linear;
pub(super) mod named;
pub(super) mod pair_logits;
pub(super) mod products;
mod rows;
pub(super) mod simd;
pub(super) mod some_rows;
mod tasks;
pub(super) mod walk;
