//! Everything of PACE that has parameters: batches, encoders, decoders and objectives, on any Burn device.
//!
//! A graph goes one way through this crate:
//!
//! 1. a [`DagTable`] lays a dataset out once, by the [`Layout`] that a model's configuration asks for;
//! 2. a [`DagBatch`] is the tensors of some of its graphs, for evaluation or (`.train(seed)`) for a training step;
//! 3. an [`encoder`] turns it into vectors, [`Pace`](encoder::Pace) by dag2seq and masked attention;
//! 4. an [`objective`] turns those into a loss: [`Vae`](objective::Vae) with a [`decoder`], [`Mlm`](objective::Mlm), or
//!    [`Supervised`](objective::Supervised).
//!
//! Syntax trees, too large for square masks, have a table and a batch of their own in [`ast`].
//!
//! ```
//! use pace_graph::DagSpec;
//! use pace_model::objective::{Objective, VaeConfig};
//! use pace_model::{DagTable, device::device};
//!
//! let spec = DagSpec::na();
//! let dags = [spec.parse("input conv3x3 max_pool3x3 output : 0>1 1>2 0>2 2>3")?];
//! let config = VaeConfig::paper();
//! let device = device("")?;
//! let vae = config.init(&spec, 1, &device);
//!
//! let table = DagTable::new(&dags, &config.encoder.layout(&spec));
//! let batch = table.whole(&device);
//! assert_eq!(vae.embed(&batch).dims(), [1, 64]);
//! assert!(vae.loss(&batch).total.into_scalar::<f32>() > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where the paper and the authors' code differ, presets named `paper`, `vae` or `mlm` follow the paper's principle and
//! `as_published` follows the code; ablations are fields of the configurations. Transformer blocks are computed by fused kernels
//! on the CPU and, with the same numbers, in stock operations everywhere else. Nothing here reads a file, the clock or a
//! global random generator: every random number comes from the seed of its [`Pass`] or of its initialisation.

pub mod ast;
mod batch;
pub mod decoder;
pub mod device;
pub mod encoder;
mod error;
mod generate;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals;
mod interner;
// Tests and benches reach all of it, so dead code shows when they are built.
#[cfg_attr(not(feature = "internals"), allow(dead_code, unused_imports))]
mod kernel;
pub mod layers;
pub mod objective;
pub mod store;

pub use batch::{
    Attention, DagBatch, DagTable, Distances, Eigenvectors, GraphBatch, Label, Layout, Neighbours, Order, Padding,
    Pass, Spectrum, Structure,
};
pub use error::Error;
