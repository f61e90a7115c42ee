//! Everything of PACE that has parameters: batches, encoders, decoders and objectives, on any Burn device.
//!
//! The data flow is `DagBatch` -> encoder -> objective. What is here so far is the floor it stands on: [`device`] picks
//! where to compute, [`kernel`] computes Transformer blocks fast on the CPU and identically, in stock operations,
//! everywhere else. No input or output: files and sockets belong to other crates.

mod batch;
pub mod decoder;
pub mod device;
pub mod encoder;
mod error;
mod init;
pub mod kernel;
pub mod layers;
mod layout;
pub mod objective;
mod pass;
pub mod store;
mod table;

pub use batch::DagBatch;
pub use error::Error;
pub use init::Init;
pub use layout::{Attention, Label, Layout, Neighbours, Order, Padding};
pub use pass::{Pass, Stream};
pub use table::DagTable;
