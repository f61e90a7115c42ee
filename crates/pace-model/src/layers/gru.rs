//! [`GruCell`]: a gated recurrent unit.

use burn::module::{Module, Param};
use burn::tensor::Tensor;
use burn::tensor::activation::{sigmoid, tanh};
use serde::{Deserialize, Serialize};

use crate::init::Init;

/// Configuration of a [`GruCell`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GruConfig {
    /// Width of an input, X.
    pub d_input: usize,
    /// Width of a state, D.
    pub d_hidden: usize,
}

impl GruConfig {
    /// Initialises as PyTorch does: everything uniform with bound `1 / sqrt(D)`.
    pub fn init(&self, init: &mut Init<'_>) -> GruCell {
        let (d, bound) = (self.d_hidden, 1.0 / (self.d_hidden as f64).sqrt());
        GruCell {
            input: init.uniform([self.d_input, 3 * d], bound),
            input_bias: init.uniform([3 * d], bound),
            hidden: init.uniform([d, 3 * d], bound),
            hidden_bias: init.uniform([3 * d], bound),
        }
    }
}

/// A gated recurrent unit (Cho et al., 2014, in PyTorch's form). The gates r, z, n stand side by side, so that each of the
/// two matrices is one product:
///
/// ```text
/// [a_r ; a_z ; a_n] = x W_x + b_x      [c_r ; c_z ; c_n] = h W_h + b_h
/// r = sigmoid(a_r + c_r)   z = sigmoid(a_z + c_z)   n = tanh(a_n + r c_n)
/// h' = (1 - z) n + z h
/// ```
#[derive(Module, Debug)]
pub struct GruCell {
    /// W_x, [X, 3D].
    input: Param<Tensor<2>>,
    /// `[3D]`.
    input_bias: Param<Tensor<1>>,
    /// W_h, [D, 3D].
    hidden: Param<Tensor<2>>,
    /// `[3D]`.
    hidden_bias: Param<Tensor<1>>,
}

impl GruCell {
    /// The next states; `None` stands for states of 0. Shapes: x [R, X], h [R, D] -> [R, D].
    pub fn forward(&self, x: Tensor<2>, h: Option<Tensor<2>>) -> Tensor<2> {
        self.step(self.project(x), h)
    }

    /// What inputs contribute to the gates. Shapes: [R, X] -> [R, 3D].
    pub fn project(&self, x: Tensor<2>) -> Tensor<2> {
        x.matmul(self.input.val()) + self.input_bias.val().unsqueeze()
    }

    /// The same for inputs that are one-hot: rows of W_x for a table of all X inputs. Shapes: [X, 3D].
    pub fn project_one_hot(&self) -> Tensor<2> {
        self.input.val() + self.input_bias.val().unsqueeze()
    }

    /// The next states from projected inputs. Shapes: a [R, 3D], h [R, D] -> [R, D].
    pub fn step(&self, a: Tensor<2>, h: Option<Tensor<2>>) -> Tensor<2> {
        let ([r, _], d) = (a.dims(), self.hidden.dims()[0]);
        let bias = self.hidden_bias.val().unsqueeze();
        let c = match &h {
            Some(h) => h.clone().matmul(self.hidden.val()) + bias,
            None => bias.repeat_dim(0, r),
        };
        let gates = sigmoid(a.clone().slice([0..r, 0..2 * d]) + c.clone().slice([0..r, 0..2 * d]));
        let (reset, keep) = (gates.clone().slice([0..r, 0..d]), gates.slice([0..r, d..2 * d]));
        let new = tanh(a.slice([0..r, 2 * d..3 * d]) + reset * c.slice([0..r, 2 * d..3 * d]));
        match h {
            Some(h) => new.clone() + keep * (h - new),
            None => new.clone() - keep * new,
        }
    }
}
