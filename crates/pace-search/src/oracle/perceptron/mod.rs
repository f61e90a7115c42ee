//! Small perceptrons on sparse features: the learner behind every learnt oracle.
//!
//! An oracle turns a graph into features ([`SparseRows`]); [`PerceptronConfig`] fits an ensemble of [`Network`]s to them;
//! a [`Distilled`] ensemble knows its scale and how good it is, and fits into a small file.

mod adam;
mod batch;
mod bytes;
mod distilled;
mod fit;
mod network;
mod packed;
mod rows;
mod scale;

pub use fit::PerceptronConfig;

pub(super) use bytes::Bytes;
pub(super) use distilled::{Distilled, Kind};
pub(super) use fit::{MIN_ROWS, mean_prediction};
pub(super) use network::{Network, dot};
pub(super) use rows::{Entry, SparseRows};
pub(super) use scale::mean_std;
