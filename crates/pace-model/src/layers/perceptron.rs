//! [`Perceptron`]: two linear maps with ReLU between.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use super::init::Init;

/// `W2 ReLU(W1 x + b1) + b2`: the heads of the decoders of S-VAE and GraphRNN.
#[derive(Module, Debug)]
pub struct Perceptron {
    hidden: Linear,
    out: Linear,
}

impl Perceptron {
    /// From width `d_in` over `d_hidden` to `d_out`.
    pub fn new(d_in: usize, d_hidden: usize, d_out: usize, init: &mut Init<'_>) -> Perceptron {
        Perceptron { hidden: init.linear(d_in, d_hidden, true), out: init.linear(d_hidden, d_out, true) }
    }

    /// Shapes: [R, d_in] -> [R, d_out].
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        self.out.forward(relu(self.hidden.forward(x)))
    }
}
