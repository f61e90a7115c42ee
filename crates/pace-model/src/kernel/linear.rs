//! [`linear`]: a linear map of all or some rows.

use std::sync::Arc;

use burn::nn::Linear;
use burn::tensor::Tensor;

#[cfg(feature = "flex")]
use super::fused::{
    autodiff::{self, Input},
    linear::{LinearOp, LinearView},
};
use super::plain;

/// A linear map as a module hands it over.
#[derive(Debug, Clone)]
pub struct LinearParams {
    /// [D, F].
    pub weight: Tensor<2>,
    /// `[F]`.
    pub bias: Option<Tensor<1>>,
    /// Whether ReLU follows.
    pub relu: bool,
}

impl LinearParams {
    /// The parameters of a layer, with or without ReLU after it.
    pub fn of(layer: &Linear, relu: bool) -> LinearParams {
        LinearParams { weight: layer.weight.val(), bias: layer.bias.as_ref().map(|bias| bias.val()), relu }
    }
}

/// x W + b of all rows of x, or of some: row i of the result is that of `x[rows[i]]`. Then ReLU, if asked for.
///
/// Burn's own layer copies the rows first, and every result once more to align it.
///
/// # Shapes
///
/// - x: [R, D]; output: [R, F], or [rows, F]
///
/// # Panics
///
/// If the shapes do not fit together, or a row is not there.
pub fn linear(x: Tensor<2>, rows: Option<Arc<[u32]>>, params: LinearParams) -> Tensor<2> {
    let ([n_rows, d], [d_in, f]) = (x.dims(), params.weight.dims());
    assert!(
        d == d_in && params.bias.as_ref().is_none_or(|bias| bias.dims() == [f]),
        "rows of width {d} for a map of {d_in}"
    );
    let inside = |rows: &Arc<[u32]>| rows.iter().all(|&row| (row as usize) < n_rows);
    assert!(rows.as_ref().is_none_or(inside), "a row beyond the {n_rows}");
    #[cfg(feature = "flex")]
    if autodiff::serves(&x) {
        let op = LinearOp { rows, relu: params.relu };
        let (x, weight) = (Input::new(x), Input::new(params.weight));
        return match params.bias {
            Some(bias) => autodiff::run::<3, _>(op, LinearView { x, weight, bias: Some(Input::new(bias)) }),
            None => autodiff::run::<2, _>(op, LinearView { x, weight, bias: None }),
        };
    }
    plain::linear_rows(x, rows, params)
}
