//! Small perceptrons on sparse features. Every learnt oracle consists of them.
//!
//! An oracle turns a graph into features ([`SparseRows`]). [`PerceptronConfig`] fits an ensemble of [`Network`]s to them. A
//! [`Distilled`] oracle is such an ensemble with its scale and its quality ([`HeldOut`]). It is saved to a small file.

mod adam;
mod batch;
mod bytes;
mod distilled;
mod fit;
mod held_out;
mod network;
mod packed;
mod rows;
mod scale;

pub use distilled::{Distilled, GraphFeatures};
pub use fit::PerceptronConfig;
pub use held_out::HeldOut;
pub use rows::Entry;

pub(crate) use bytes::Bytes;
pub(crate) use fit::{MIN_ROWS, mean_prediction};
pub(crate) use network::{Network, dot};
pub(crate) use rows::SparseRows;
pub(crate) use scale::mean_std;
