//! The gates of a recurrent unit in stock operations.

use burn::tensor::Tensor;
use burn::tensor::activation::{sigmoid, tanh};

/// Twin of [`gru_gates`](crate::kernel::gru_gates).
pub fn gru_gates(a: Tensor<2>, c: Tensor<2>, h: Option<Tensor<2>>) -> Tensor<2> {
    let [r, width] = a.dims();
    let d = width / 3;
    let gates = sigmoid(a.clone().slice([0..r, 0..2 * d]) + c.clone().slice([0..r, 0..2 * d]));
    let (reset, keep) = (gates.clone().slice([0..r, 0..d]), gates.slice([0..r, d..2 * d]));
    let new = tanh(a.slice([0..r, 2 * d..3 * d]) + reset * c.slice([0..r, 2 * d..3 * d]));
    match h {
        Some(h) => new.clone() + keep * (h - new),
        None => new.clone() - keep * new,
    }
}
