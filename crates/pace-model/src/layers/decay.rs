//! [`undecayed`]: the parameters that weight decay leaves alone.

use burn::module::{Module, ModuleVisitor, Param, ParamId};
use burn::tensor::Tensor;

use super::norm::GAIN;

/// The biases of a module: what weight decay leaves alone.
///
/// Modules say it by how they declare their parameters, whatever their names. A parameter of one dimension is a bias, one of more is
/// a weight. The gain of a [`Norm`](super::Norm) is the exception: it has one dimension and is decayed, as in the reference code.
///
/// ```
/// use burn::nn::LinearConfig;
/// let linear = LinearConfig::new(3, 2).init(&pace_model::device::device("")?);
/// assert_eq!(pace_model::layers::undecayed(&linear), [linear.bias.unwrap().id]);
/// # Ok::<(), pace_model::Error>(())
/// ```
pub fn undecayed<M: Module>(module: &M) -> Vec<ParamId> {
    let mut biases = Biases { at: Vec::new(), found: Vec::new() };
    module.visit(&mut biases);
    biases.found
}

/// Collects biases on a walk through a module.
struct Biases {
    /// Whether each field on the way here is the gain of a norm.
    at: Vec<bool>,
    found: Vec<ParamId>,
}

impl ModuleVisitor for Biases {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if D == 1 && self.at.last() != Some(&true) {
            self.found.push(param.id);
        }
    }

    fn enter_module(&mut self, name: &str, container_type: &str) {
        self.at.push((container_type, name) == GAIN);
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.at.pop();
    }
}

#[cfg(test)]
mod tests {
    use burn::module::{Module, Param};
    use burn::tensor::Tensor;

    use super::undecayed;
    use crate::layers::{Init, Norm};

    /// A module with names of its own: its matrix is called a bias, its offset a weight.
    #[derive(Module, Debug)]
    struct Odd {
        bias: Param<Tensor<2>>,
        weight: Option<Param<Tensor<1>>>,
        inner: Vec<Norm>,
    }

    #[test]
    fn dimensions_and_norms_decide_not_names() {
        let device = crate::device::device("").unwrap();
        let mut init = Init::new(1, &device);
        let norms = vec![Norm::new(3, &mut init), Norm::new(3, &mut init)];
        let weight = init.constant([3], 0.0);
        let expected = [&weight.id, &norms[0].beta.id, &norms[1].beta.id].map(|id| *id);
        let odd = Odd { bias: init.uniform([2, 3], 1.0), weight: Some(weight), inner: norms };
        assert_eq!(undecayed(&odd), expected);
    }
}
