//! Labelled DAGs, their canonical sequences, attention masks and datasets.
//!
//! The principal type is [`Dag`], a labelled directed acyclic graph, and the principal function [`dag2seq`], which turns a
//! graph into a [`Sequence`] without loss. PACE (Dong, Zhang, Li & Chen, ICML 2022) feeds that sequence to a masked
//! Transformer. This crate is everything before the tensors:
//!
//! 1. a graph comes from text or from a [`dataset`] as a [`Dag`], checked against a [`DagSpec`];
//! 2. [`canonical_order`] numbers it, the same way for all isomorphic graphs, and topologically;
//! 3. [`dag2seq`] writes it as a [`Sequence`]: two graphs give the same one iff they are isomorphic (Theorem 3.1);
//! 4. [`structure`] tells which nodes attend to which, and what else a model may ask about the edges;
//! 5. [`enumerate`](mod@enumerate) makes graphs: all of NAS-Bench-101, and samples of the other search spaces;
//! 6. [`GraphKey`] finds graphs again under any numbering of their nodes.
//!
//! ```
//! use pace_graph::structure::{MaskRule, mask};
//! use pace_graph::{DagSpec, canonical, dag2seq, seq2dag};
//!
//! let spec = DagSpec::nas101();
//! let cell = spec.parse("input output conv3x3-bn-relu maxpool3x3 : 0>2 0>3 2>1 3>1")?;
//! let sequence = dag2seq(&cell);
//! assert_eq!(sequence.ops().iter().map(|&op| spec.op_name(op)).collect::<Vec<_>>(),
//!            ["input", "conv3x3-bn-relu", "maxpool3x3", "output"]);
//! assert_eq!(sequence.item(3).predecessors, [1, 2]);
//!
//! // Lossless: the sequence is the canonical form.
//! assert_eq!(seq2dag(&sequence), canonical(&cell));
//! // Any other numbering of the same cell gives the same sequence.
//! let renumbered = spec.parse("maxpool3x3 input conv3x3-bn-relu output : 1>2 1>0 2>3 0>3")?;
//! assert_eq!(dag2seq(&renumbered), sequence);
//! // The output node attends to everything, the convolution to the input and itself.
//! let mask = mask(&canonical(&cell), MaskRule::default());
//! assert_eq!(mask.keys(3).count(), 4);
//! assert_eq!(mask.keys(1).collect::<Vec<_>>(), [0, 1]);
//! # Ok::<(), pace_graph::Error>(())
//! ```
//!
//! [`Csr`], [`Vectors`], [`mean_std`], [`split_mix`] and [`disk`] are small tools that all crates share. There are no tensors
//! and no network access here, and the only unsafe code is the two calls into nauty and Traces.

mod canon;
mod csr;
mod dag;
mod dag2seq;
pub mod dataset;
pub mod disk;
mod ends;
pub mod enumerate;
mod error;
mod infer;
mod input;
mod key;
mod mean_std;
mod paths;
mod properties;
mod raw;
mod rooted;
mod spec;
mod split;
mod split_mix;
pub mod structure;
mod text;
mod validity;
mod vectors;

pub use canon::{CANON_ID, Canonical, GroupSize, Method, canonical, canonical_order, canonicalise};
pub use csr::Csr;
pub use dag::{Dag, Op};
pub use dag2seq::{Item, Sequence, dag2seq, dag2seq_all, seq2dag};
pub use ends::AddedEnds;
pub use error::Error;
pub use infer::{Inferred, Named, infer};
pub use key::GraphKey;
pub use mean_std::mean_std;
pub use paths::PathEncoding;
pub use properties::Properties;
pub use raw::raw_features;
pub use rooted::{Hops, Label, RootedLabels, rooted_subgraph};
pub use spec::DagSpec;
pub use split::{Split, python_shuffle, split_in_order, split_reference};
pub use split_mix::{GOLDEN, split_mix};
pub use validity::{Draft, EdgeProgress, EdgeRule, Growth, NextNode, Pick, Validity};
pub use vectors::Vectors;
