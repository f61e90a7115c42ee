//! [`Network`]: a perceptron with two hidden layers.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::rows::Entry;

/// The number of partial sums of a dot product, so that the compiler can vectorise it.
const LANES: usize = 8;

/// `f(x) = w3 . s(W2 s(W1 x + b1) + b2) + b3` with `s(z) = z sigmoid(z)` (SiLU), over sparse features x.
///
/// Only the rows of `W1` whose feature is not zero are read. All parameters are in one vector: W1 `[F, H]`, b1 `[H]`,
/// W2 `[H, H]` (from, to), b2 `[H]`, w3 `[H]`, b3.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Network {
    n_features: usize,
    width: usize,
    parameters: Vec<f32>,
}

/// The parameters by name, or the derivatives by them.
pub(super) struct View<T> {
    pub(super) w1: T,
    pub(super) b1: T,
    pub(super) w2: T,
    pub(super) b2: T,
    pub(super) w3: T,
    pub(super) b3: T,
}

/// The values of the two hidden layers.
pub(crate) struct Workspace {
    values: [Vec<f32>; 2],
}

impl Workspace {
    pub(crate) fn new(width: usize) -> Workspace {
        Workspace { values: [vec![0.0; width], vec![0.0; width]] }
    }
}

impl Network {
    /// The number of parameters of a network of this size.
    pub(crate) fn n_parameters(n_features: usize, width: usize) -> usize {
        n_features * width + width + width * width + width + width + 1
    }

    /// Gaussian weights that keep the variance of inputs with this mean squared length; zero biases.
    pub(super) fn random(n_features: usize, width: usize, power: f32, rng: &mut dyn Rng) -> Network {
        let mut parameters = Vec::with_capacity(Network::n_parameters(n_features, width));
        let blocks = [
            (n_features * width, 1.0 / power),
            (width, 0.0),
            (width * width, 2.0 / width as f32),
            (width, 0.0),
            (width, 1.0 / width as f32),
            (1, 0.0),
        ];
        for (n, variance) in blocks {
            let draw = |_| f32::sqrt(variance) * Distribution::<f32>::sample(&StandardNormal, rng);
            parameters.extend((0..n).map(draw));
        }
        Network { n_features, width, parameters }
    }

    /// A network with these [`parameters`](Network::parameters); `None` if their number is wrong.
    pub(crate) fn from_parameters(n_features: usize, width: usize, parameters: Vec<f32>) -> Option<Network> {
        let fits = parameters.len() == Network::n_parameters(n_features, width);
        fits.then_some(Network { n_features, width, parameters })
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn n_features(&self) -> usize {
        self.n_features
    }

    pub(crate) fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    pub(super) fn parameters_mut(&mut self) -> &mut [f32] {
        &mut self.parameters
    }

    pub(super) fn view(&self) -> View<&[f32]> {
        let width = self.width;
        let (w1, rest) = self.parameters.split_at(self.n_features * width);
        let (b1, rest) = rest.split_at(width);
        let (w2, rest) = rest.split_at(width * width);
        let (b2, rest) = rest.split_at(width);
        let (w3, b3) = rest.split_at(width);
        View { w1, b1, w2, b2, w3, b3 }
    }

    /// The same view of another vector of as many numbers.
    pub(super) fn view_mut<'a>(&self, numbers: &'a mut [f32]) -> View<&'a mut [f32]> {
        let width = self.width;
        let (w1, rest) = numbers.split_at_mut(self.n_features * width);
        let (b1, rest) = rest.split_at_mut(width);
        let (w2, rest) = rest.split_at_mut(width * width);
        let (b2, rest) = rest.split_at_mut(width);
        let (w3, b3) = rest.split_at_mut(width);
        View { w1, b1, w2, b2, w3, b3 }
    }

    /// f(x). One row at a time, so that the score of a graph does not depend on the graphs scored with it.
    pub(crate) fn predict(&self, row: &[Entry], work: &mut Workspace) -> f32 {
        let (view, width) = (self.view(), self.width);
        let [first, second] = &mut work.values;
        first.copy_from_slice(view.b1);
        for &(feature, value) in row {
            add_scaled(first, &view.w1[usize::from(feature) * width..][..width], value);
        }
        first.iter_mut().for_each(|value| *value = silu(*value).0);
        second.copy_from_slice(view.b2);
        for (&value, row) in first.iter().zip(view.w2.chunks_exact(width)) {
            add_scaled(second, row, value);
        }
        second.iter_mut().for_each(|value| *value = silu(*value).0);
        view.b3[0] + dot(second, view.w3)
    }
}

/// s(z) and s'(z).
pub(super) fn silu(z: f32) -> (f32, f32) {
    let sigmoid = 1.0 / (1.0 + (-z).exp());
    (z * sigmoid, sigmoid * (1.0 + z * (1.0 - sigmoid)))
}

pub(super) fn add_scaled(to: &mut [f32], from: &[f32], scale: f32) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || to.iter_mut().zip(from).for_each(|(to, from)| *to += scale * from),
    );
}

/// a . b, with a fixed order of additions.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            let mut sums = [0.0; LANES];
            let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
            let tail: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
            for (a, b) in a.zip(b) {
                for lane in 0..LANES {
                    sums[lane] += a[lane] * b[lane];
                }
            }
            sums.iter().sum::<f32>() + tail
        },
    )
}
