//! [`GruCell`]: a gated recurrent unit.

use burn::module::{Module, Param};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::init::Init;
use crate::kernel::{LinearParams, gru_gates, linear};

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
        map(x, &self.input, &self.input_bias)
    }

    /// The same for inputs that are one-hot: rows of W_x for a table of all X inputs. Shapes: [X, 3D].
    pub fn project_one_hot(&self) -> Tensor<2> {
        self.input.val() + self.input_bias.val().unsqueeze()
    }

    /// The next states from projected inputs. Shapes: a [R, 3D], h [R, D] -> [R, D].
    pub fn step(&self, a: Tensor<2>, h: Option<Tensor<2>>) -> Tensor<2> {
        let [r, _] = a.dims();
        let c = match &h {
            Some(h) => map(h.clone(), &self.hidden, &self.hidden_bias),
            None => self.hidden_bias.val().unsqueeze().repeat_dim(0, r),
        };
        gru_gates(a, c, h)
    }

    /// W_h and its bias, for the kernels.
    pub(crate) fn hidden(&self) -> (Tensor<2>, Tensor<1>) {
        (self.hidden.val(), self.hidden_bias.val())
    }
}

/// x W + b.
fn map(x: Tensor<2>, weight: &Param<Tensor<2>>, bias: &Param<Tensor<1>>) -> Tensor<2> {
    linear(x, None, LinearParams { weight: weight.val(), bias: Some(bias.val()), relu: false })
}

#[cfg(test)]
mod tests {
    use burn::tensor::Tensor;

    use super::{GruConfig, Init};
    use crate::device::device;

    #[test]
    fn gates_follow_their_formulas() {
        const X: usize = 2;
        const D: usize = 3;
        let device = device("").unwrap();
        let mut init = Init::new(5, &device);
        let cell = GruConfig { d_input: X, d_hidden: D }.init(&mut init);
        let numbers = |tensor: Tensor<2>| tensor.into_data().iter::<f64>().collect::<Vec<f64>>();
        let (x, h) = (init.normal([4, X]).val(), init.normal([4, D]).val());
        let (w_x, w_h) = (numbers(cell.input.val()), numbers(cell.hidden.val()));
        let (b_x, b_h) = (numbers(cell.input_bias.val().unsqueeze()), numbers(cell.hidden_bias.val().unsqueeze()));
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        for state in [Some(h.clone()), None] {
            let found = numbers(cell.forward(x.clone(), state.clone()));
            let (x, h) = (numbers(x.clone()), numbers(state.unwrap_or_else(|| h.zeros_like())));
            for (row, j) in (0..4).flat_map(|row| (0..D).map(move |j| (row, j))) {
                let from_x = |gate: usize| {
                    let column = gate * D + j;
                    b_x[column] + (0..X).map(|i| x[row * X + i] * w_x[i * 3 * D + column]).sum::<f64>()
                };
                let from_h = |gate: usize| {
                    let column = gate * D + j;
                    b_h[column] + (0..D).map(|i| h[row * D + i] * w_h[i * 3 * D + column]).sum::<f64>()
                };
                let (r, z) = (sigmoid(from_x(0) + from_h(0)), sigmoid(from_x(1) + from_h(1)));
                let n = (from_x(2) + r * from_h(2)).tanh();
                let expected = (1.0 - z) * n + z * h[row * D + j];
                assert!((found[row * D + j] - expected).abs() < 1e-5, "row {row}, unit {j}");
            }
        }
    }
}
