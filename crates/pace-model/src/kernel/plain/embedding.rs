//! The node embedding in stock operations.

use burn::tensor::activation::relu;
use burn::tensor::{Int, Tensor};

use super::drop;
use crate::kernel::dropout::Dropout;
use crate::kernel::embedding::{EmbeddingParams, site};

/// Twin of [`node_embedding`](crate::kernel::node_embedding).
pub fn node_embedding(
    tokens: Tensor<1, Int>,
    features: Tensor<2>,
    params: EmbeddingParams,
    sum: bool,
    dropout: Dropout,
) -> Tensor<2> {
    let op = relu(params.weight.select(0, tokens) + params.bias.unsqueeze());
    let hidden = drop(relu(features.matmul(params.first)), dropout.site(site::HIDDEN));
    let position = drop(hidden.matmul(params.second), dropout.site(site::POSITION));
    if sum { op + position } else { Tensor::cat(vec![op, position], 1) }
}
