//! Messages along edges: the parts of graph neural networks.
//!
//! A [`DagBatch`](crate::DagBatch) makes an [`EdgeList`] (all nodes hear at once) or [`Levels`] (nodes hear those before them,
//! which have already heard). Both group what a node hears in [`Segments`], which sum and weigh it.

mod edge_list;
mod levels;
mod passing;
mod segments;

pub use edge_list::{EdgeList, Flow};
pub use levels::{Level, Levels};
pub use passing::{Aggregation, MessagePassing, MessagePassingConfig};
pub use segments::Segments;
