//! Adam in stock operations.

use burn::tensor::Tensor;

use crate::kernel::adam::AdamStep;

/// Twin of [`AdamStep::take`].
pub fn adam<const D: usize>(
    step: &AdamStep,
    w: Tensor<D>,
    g: Tensor<D>,
    [m, v]: [Tensor<D>; 2],
) -> (Tensor<D>, [Tensor<D>; 2]) {
    let m = m.mul_scalar(step.beta_1) + g.clone().mul_scalar(1.0 - step.beta_1);
    let v = v.mul_scalar(step.beta_2) + g.square().mul_scalar(1.0 - step.beta_2);
    let direction = m.clone() / v.clone().sqrt().add_scalar(step.epsilon * step.root());
    let kept = w.mul_scalar(1.0 - step.lr * f64::from(step.decay));
    (kept - direction.mul_scalar(step.lr * f64::from(step.correction())), [m, v])
}
