//! Encoders, decoders and objectives for directed acyclic graphs, on any Burn device.
//!
//! The principal type is [`Pace`](encoder::Pace), an encoder that maps graphs to vectors:
//!
//! ```
//! use pace_graph::DagSpec;
//! use pace_model::encoder::{EncodeParts, PaceConfig};
//! use pace_model::{DagTable, device::device};
//!
//! let (spec, device) = (DagSpec::na(), device("")?);
//! let dags = [spec.parse("input conv3x3 max_pool3x3 output : 0>1 1>2 0>2 2>3")?];
//! let config = PaceConfig::mlm();
//! let encoder = config.init(&spec, 1, &device);
//!
//! let batch = DagTable::new(&dags, &config.layout(&spec)).whole(&device);
//! assert_eq!(encoder.encode_graphs(&batch).dims(), [1, 64]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A graph takes four steps through this crate:
//!
//! 1. a [`DagTable`] holds a dataset as sequences (dag2seq), in the [`Layout`] that an encoder needs;
//! 2. a [`DagBatch`] is the tensors of some of its graphs, for evaluation or (`.train(seed)`) for a training step;
//! 3. an [`encoder`] maps it to vectors;
//! 4. an [`objective`] maps those to a loss: [`Vae`](objective::Vae) with a [`decoder`], [`Mlm`](objective::Mlm), or
//!    [`Supervised`](objective::Supervised).
//!
//! Encoders and decoders are made of [`layers`]. Syntax trees are too large for square masks and have their own table and
//! batch in [`ast`]. A variational autoencoder from end to end:
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
//! let table = DagTable::new(&dags, &config.layout(&spec));
//! let batch = table.whole(&device);
//! assert_eq!(vae.embed(&batch).dims(), [1, 64]);
//! assert!(vae.loss(&batch).total.into_scalar::<f32>() > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! If the paper and the authors' code differ, presets named `paper`, `vae` or `mlm` follow the paper, and `as_published` follows
//! the code. Ablations are fields of the configurations. Transformer blocks are fused on the CPU; other devices compute the
//! same numbers by stock operations. Nothing here reads a file, the clock or a global random generator: every random number
//! comes from the seed of its [`Pass`] or of its initialisation.

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
    Pass, Rooted, Spectrum, Structure,
};
pub use error::Error;
