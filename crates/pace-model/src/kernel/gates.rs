//! [`gru_gates`]: what a gated recurrent unit does between its products.

use burn::tensor::Tensor;

#[cfg(feature = "flex")]
use super::fused::{
    autodiff::{self, Input},
    gates::{GatesOp, GatesView},
};
use super::plain;

/// The next states of a GRU (Cho et al., 2014, in PyTorch's form), from its inputs and states after their maps:
///
/// ```text
/// r = sigmoid(a_r + c_r)   z = sigmoid(a_z + c_z)   n = tanh(a_n + r c_n)   h' = (1 - z) n + z h
/// ```
///
/// # Shapes
///
/// - a, c: [R, 3D], gates r, z, n side by side
/// - h: [R, D]; `None` stands for zeros
/// - output: [R, D]
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn gru_gates(a: Tensor<2>, c: Tensor<2>, h: Option<Tensor<2>>) -> Tensor<2> {
    let [rows, width] = a.dims();
    assert!(width.is_multiple_of(3), "gates of width {width} are not three of one width");
    assert_eq!(c.dims(), [rows, width], "inputs and states differ in shape after their maps");
    if let Some(h) = &h {
        assert_eq!(h.dims(), [rows, width / 3], "states of another shape than the gates");
    }
    #[cfg(feature = "flex")]
    if autodiff::serves(&a) {
        let (a, c) = (Input::new(a), Input::new(c));
        return match h {
            Some(h) => autodiff::run::<3, _>(GatesOp, GatesView { a, c, h: Some(Input::new(h)) }),
            None => autodiff::run::<2, _>(GatesOp, GatesView { a, c, h: None }),
        };
    }
    plain::gru_gates(a, c, h)
}
