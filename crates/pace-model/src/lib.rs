//! Everything of PACE that has parameters: batches, encoders, decoders and objectives, on any Burn device.
//!
//! The data flow is `DagBatch` -> encoder -> objective. What is here so far is the floor it stands on: [`device`] picks
//! where to compute, [`kernel`] computes Transformer blocks fast on the CPU and identically, in stock operations,
//! everywhere else. No input or output: files and sockets belong to other crates.

pub mod device;
mod error;
pub mod kernel;

pub use error::Error;
