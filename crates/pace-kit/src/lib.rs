//! What the command `pace` and the Python package share, for programs of your own that want the same in a few lines.
//!
//! 1. [`Graphs`] are graphs in the dictionary of one spec: the given one, or one that is inferred, with remarks that say how.
//! 2. A [`Plan`](model::Plan) says which model is trained, and how; [`train`](model::train) does it inside a run folder.
//! 3. A [`Model`] is such a folder, loaded again: vectors, graphs from vectors, predictions.
//! 4. [`predict`] compares ways to predict scores with controls, [`features`] are what such a control looks at.
//! 5. A [`SearchSpace`] proposes graphs by a [`Method`](search::Method); who scores them is the caller's business.
//!
//! ```
//! use pace_graph::Named;
//! use pace_kit::Graphs;
//! let chain = |ops: &[&str]| Named {
//!     ops: ops.iter().map(|op| op.to_string()).collect(),
//!     edges: (1..ops.len()).map(|node| (node - 1, node)).collect(),
//!     ..Named::default()
//! };
//! let (graphs, remarks) = Graphs::of("mine", vec![chain(&["in", "relu", "out"]), chain(&["in", "out"])], None)?;
//! assert_eq!((graphs.spec.n_ops(), graphs.dags.len()), (3, 2));
//! assert!(remarks[0].starts_with("spec inferred from 2 graphs"));
//! # Ok::<(), anyhow::Error>(())
//! ```
//!
//! This is the library of an application, so its errors are `anyhow`'s: sentences for people. Nothing is printed here: whoever calls
//! [`Watch`]es.

pub mod features;
mod graphs;
pub mod model;
pub mod predict;
pub mod search;
mod sentence;
mod table;
mod watch;

pub use graphs::{Graphs, dags};
pub use model::Model;
pub use search::SearchSpace;
pub use sentence::sentence;
pub use table::GraphTable;
pub use watch::{Silent, Watch};
