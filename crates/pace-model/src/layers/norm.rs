//! [`Norm`]: layer normalisation.

use burn::module::{Module, Param};
use burn::tensor::Tensor;

use super::init::Init;
use crate::kernel::NormParams;

/// The epsilon of every layer norm of the paper's code.
pub(crate) const EPSILON: f64 = 1e-5;

/// How Burn names [`Norm::gamma`] on a walk through a module: its type and its field.
pub(super) const GAIN: (&str, &str) = ("Struct:Norm", "gamma");

/// Layer norm over the last axis: `gamma * (x - mean) / sqrt(var + 1e-5) + beta`.
#[derive(Module, Debug)]
pub struct Norm {
    /// Gain, `[D]`.
    pub gamma: Param<Tensor<1>>,
    /// Offset, `[D]`.
    pub beta: Param<Tensor<1>>,
}

impl Norm {
    /// The identity up to normalisation.
    pub fn new(d: usize, init: &mut Init<'_>) -> Norm {
        Norm { gamma: init.constant([d], 1.0), beta: init.constant([d], 0.0) }
    }

    /// The tensors, for the kernels.
    pub(crate) fn params(&self) -> NormParams {
        NormParams { gamma: self.gamma.val(), beta: self.beta.val() }
    }

    /// Normalises rows. Shapes: [R, D] -> [R, D].
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let mean = x.clone().mean_dim(1);
        let centred = x - mean;
        let variance = centred.clone().square().mean_dim(1);
        let normal = centred / (variance + EPSILON).sqrt();
        normal * self.gamma.val().unsqueeze() + self.beta.val().unsqueeze()
    }
}
