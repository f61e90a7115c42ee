//! From graphs to tensors: a [`Layout`] says how, a [`DagTable`] holds a dataset, a [`DagBatch`] is the tensors of some of it.

mod dag;
mod distinct;
mod found;
mod layout;
mod pass;
mod row;
mod structure;
mod table;

use burn::tensor::{DType, Device, Int, Tensor, TensorData};

pub use dag::DagBatch;
pub use found::Spectrum;
pub(crate) use found::rooted_width;
pub(crate) use layout::check_spec;
pub use layout::{Attention, Label, Layout, Neighbours, Order, Padding};
pub use pass::{Pass, Stream};
pub use structure::{Distances, Eigenvectors, Rooted, Structure};
pub use table::DagTable;

/// What the batches of all encoders have: graphs with something to predict.
pub trait GraphBatch {
    /// How many graphs, B.
    fn n_graphs(&self) -> usize;

    /// A number to be predicted for every graph, `[B]`; of several numbers those of a graph are neighbours.
    fn targets(&self) -> Option<&Tensor<1>>;

    /// Tokens to be predicted for every graph, [B, positions].
    fn token_targets(&self) -> Option<&Tensor<2, Int>> {
        None
    }
}

/// Makes an index tensor. All devices get the same integer type; their defaults differ.
pub(crate) fn ints<const D: usize>(values: Vec<i32>, shape: [usize; D], device: &Device) -> Tensor<D, Int> {
    Tensor::from_data(TensorData::new(values, shape), (device, DType::I32))
}

/// Makes a tensor of floats.
pub(crate) fn floats<const D: usize>(values: Vec<f32>, shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values, shape), device)
}
