//! The three products of a linear map on slices, for the bench that compares them with the `gemm` crate.

use super::{Into, PLAIN, Panels, add_weight_grad, input_grad};

/// A weight [K, N], laid out as it is and transposed.
pub struct Weight {
    as_it_is: Panels,
    transposed: Panels,
}

impl Weight {
    /// Of a row-major matrix with `k` rows.
    pub fn new(weight: &[f32], k: usize) -> Self {
        Self { as_it_is: Panels::new(weight, k), transposed: Panels::transposed(weight, k) }
    }

    /// y = x W. Shapes: x [M, K], y [M, N].
    pub fn forward(&self, x: &[f32], y: &mut [f32]) {
        self.as_it_is.product(x, y, self.as_it_is.n(), PLAIN);
    }

    /// dx = dy W^T. Shapes: dy [M, N], dx [M, K].
    pub fn input_grad(&self, dy: &[f32], dx: &mut [f32]) {
        input_grad(dx, Into::Replace, dy, &self.transposed);
    }
}

/// dW += x^T dy. Shapes: x [M, K], dy [M, N], dW [K, N].
pub fn weight_grad(x: &[f32], dy: &[f32], dw: &mut [f32], m: usize) {
    add_weight_grad(dw, x, dy, m);
}
