//! [`AdamStep`]: the update of one parameter by Adam, in a single pass over its numbers.

use burn::tensor::Tensor;

#[cfg(feature = "flex")]
use super::fused::{adam, autodiff};
use super::plain;

/// One step of Adam (Kingma and Ba, 2015) with decoupled weight decay (Loshchilov and Hutter, 2019).
///
/// m <- b1 m + (1 - b1) g, v <- b2 v + (1 - b2) g^2,
/// w <- (1 - lr decay) w - lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    /// Learning rate.
    pub lr: f64,
    /// b1, the memory of the first moment.
    pub beta_1: f32,
    /// b2, the memory of the second moment.
    pub beta_2: f32,
    /// Added to the root of the second moment.
    pub epsilon: f32,
    /// Weight decay; 0 for plain Adam.
    pub decay: f32,
    /// t, counted from 1.
    pub time: usize,
}

impl AdamStep {
    /// sqrt(1 - b2^t): with it, sqrt(v / (1 - b2^t)) + epsilon is (sqrt(v) + epsilon root) / root.
    pub(crate) fn root(&self) -> f32 {
        (1.0 - self.beta_2.powi(self.time as i32)).sqrt()
    }

    /// What multiplies m / (sqrt(v) + epsilon root) besides the learning rate.
    pub(crate) fn correction(&self) -> f32 {
        self.root() / (1.0 - self.beta_1.powi(self.time as i32))
    }

    /// Takes the step: parameter w, gradient g and moments m, v of one shape -> the next w and moments.
    ///
    /// The fused path writes into the memory of w, m and v if nobody else holds it.
    ///
    /// # Panics
    ///
    /// If the shapes differ.
    pub fn take<const D: usize>(
        &self,
        w: Tensor<D>,
        g: Tensor<D>,
        moments: [Tensor<D>; 2],
    ) -> (Tensor<D>, [Tensor<D>; 2]) {
        let shape = w.dims();
        assert!(
            g.dims() == shape && moments.iter().all(|moment| moment.dims() == shape),
            "parameter {shape:?}, gradient {:?}, moments {:?} and {:?} differ in shape",
            g.dims(),
            moments[0].dims(),
            moments[1].dims()
        );
        #[cfg(feature = "flex")]
        if [&w, &g, &moments[0], &moments[1]]
            .into_iter()
            .all(|tensor| autodiff::serves(tensor) && !tensor.is_autodiff())
        {
            return adam::step(self, w, g, moments);
        }
        plain::adam(self, w, g, moments)
    }
}
