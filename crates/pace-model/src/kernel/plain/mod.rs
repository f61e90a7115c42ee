//! The plain twins: every kernel again in stock Burn operations, with the same dropout masks.
//!
//! They serve each device the fused path does not (ndarray, vulkan, cuda), dtypes other than f32 and attention biases that
//! need a gradient. The tests hold the fused path against them.

mod adam;
mod attention;
mod blocks;
mod embedding;
mod gates;
mod likelihood;
mod linear;
mod pair_logits;
mod walk;

pub use adam::adam;
pub use attention::{attention, cross_attention, sparse_attention};
pub use blocks::{concat_linear, decoder, encoder, encoder_per_head, shared_encoder, sparse_encoder};
pub use embedding::node_embedding;
pub use gates::gru_gates;
pub use likelihood::graph_nll;
pub use linear::linear_rows;
pub use pair_logits::pair_logits;
pub use walk::{give, hear, tell, walk};

use burn::tensor::Tensor;

use super::dropout::{Dropout, Site};
use super::params::{NormParams, site};

/// Twin of [`add_norm`](crate::kernel::add_norm).
pub fn add_norm(residual: Tensor<2>, x: Tensor<2>, norm: NormParams, epsilon: f64, dropout: Dropout) -> Tensor<2> {
    layer_norm(residual + drop(x, dropout.site(site::SELF_OUTPUT)), &norm, epsilon)
}

fn linear(x: Tensor<2>, weight: Tensor<2>, bias: Tensor<1>) -> Tensor<2> {
    x.matmul(weight) + bias.unsqueeze()
}

fn layer_norm(x: Tensor<2>, norm: &NormParams, epsilon: f64) -> Tensor<2> {
    let centred = x.clone() - x.mean_dim(1);
    let variance = (centred.clone() * centred.clone()).mean_dim(1);
    centred / (variance + epsilon).sqrt() * norm.gamma.clone().unsqueeze() + norm.beta.clone().unsqueeze()
}

fn drop(x: Tensor<2>, site: Site) -> Tensor<2> {
    if !site.is_on() {
        return x;
    }
    let mask = site.mask(x.dims(), &x.device());
    x * mask
}

/// K equal column blocks.
fn split_columns<const K: usize>(x: Tensor<2>) -> [Tensor<2>; K] {
    let [rows, columns] = x.dims();
    let width = columns / K;
    std::array::from_fn(|k| x.clone().slice([0..rows, k * width..(k + 1) * width]))
}
