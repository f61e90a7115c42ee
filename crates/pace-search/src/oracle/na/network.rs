//! [`Network`]: the small perceptron behind the NA surrogate, and its gradient by hand.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::features::N_FEATURES;

/// How many partial sums a dot product keeps, so that the compiler can use vector registers.
const LANES: usize = 8;

/// `f(x) = w3 . s(W2 s(W1 x + b1) + b2) + b3` with `s(z) = z sigmoid(z)` (SiLU), over binary features x.
///
/// Only the rows of `W1` whose feature is on are ever touched. All parameters are one vector: W1 `[F, H]`, b1 `[H]`,
/// W2 `[H, H]` (from, to), b2 `[H]`, w3 `[H]`, b3.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Network {
    width: usize,
    parameters: Vec<f32>,
}

/// The parameters by name.
struct View<'a> {
    w1: &'a [f32],
    b1: &'a [f32],
    w2: &'a [f32],
    b2: &'a [f32],
    w3: &'a [f32],
    b3: f32,
}

/// What a forward pass leaves behind: values and slopes of the two hidden layers.
pub(super) struct Workspace {
    values: [Vec<f32>; 2],
    slopes: [Vec<f32>; 2],
    errors: [Vec<f32>; 2],
}

impl Workspace {
    pub(super) fn new(width: usize) -> Workspace {
        let pair = || [vec![0.0; width], vec![0.0; width]];
        Workspace { values: pair(), slopes: pair(), errors: pair() }
    }
}

impl Network {
    /// How many parameters a network of this width has.
    pub(super) fn n_parameters(width: usize) -> usize {
        N_FEATURES * width + width + width * width + width + width + 1
    }

    /// Gaussian weights that keep the variance of the signal (about 14 features are on), zero biases.
    pub(super) fn random(width: usize, rng: &mut dyn Rng) -> Network {
        let mut parameters = Vec::with_capacity(Network::n_parameters(width));
        let blocks = [
            (N_FEATURES * width, 1.0 / 13.5),
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
        Network { width, parameters }
    }

    /// Takes parameters as [`Network::parameters`] gives them; `None` if their number is wrong.
    pub(super) fn from_parameters(width: usize, parameters: Vec<f32>) -> Option<Network> {
        (parameters.len() == Network::n_parameters(width)).then_some(Network { width, parameters })
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    pub(super) fn parameters_mut(&mut self) -> &mut [f32] {
        &mut self.parameters
    }

    fn view(&self) -> View<'_> {
        let width = self.width;
        let (w1, rest) = self.parameters.split_at(N_FEATURES * width);
        let (b1, rest) = rest.split_at(width);
        let (w2, rest) = rest.split_at(width * width);
        let (b2, rest) = rest.split_at(width);
        let (w3, b3) = rest.split_at(width);
        View { w1, b1, w2, b2, w3, b3: b3[0] }
    }

    /// f(x) for the features that are on.
    pub(super) fn predict(&self, active: &[usize], work: &mut Workspace) -> f32 {
        let (view, width) = (self.view(), self.width);
        let [first, second] = &mut work.values;
        let [first_slope, second_slope] = &mut work.slopes;
        first.copy_from_slice(view.b1);
        for &feature in active {
            add_scaled(first, &view.w1[feature * width..][..width], 1.0);
        }
        activate(first, first_slope);
        second.copy_from_slice(view.b2);
        for (&value, row) in first.iter().zip(view.w2.chunks_exact(width)) {
            add_scaled(second, row, value);
        }
        activate(second, second_slope);
        view.b3 + dot(second, view.w3)
    }

    /// Adds `error * df/dparameters` at the point of the last [`Network::predict`] to `gradient`.
    pub(super) fn backward(&self, active: &[usize], error: f32, work: &mut Workspace, gradient: &mut [f32]) {
        let (view, width) = (self.view(), self.width);
        let (w1, rest) = gradient.split_at_mut(N_FEATURES * width);
        let (b1, rest) = rest.split_at_mut(width);
        let (w2, rest) = rest.split_at_mut(width * width);
        let (b2, rest) = rest.split_at_mut(width);
        let (w3, b3) = rest.split_at_mut(width);
        let [first_error, second_error] = &mut work.errors;
        b3[0] += error;
        add_scaled(w3, &work.values[1], error);
        for ((out, &weight), &slope) in second_error.iter_mut().zip(view.w3).zip(&work.slopes[1]) {
            *out = error * weight * slope;
        }
        add_scaled(b2, second_error, 1.0);
        let rows = w2.chunks_exact_mut(width).zip(view.w2.chunks_exact(width));
        for (index, (gradient_row, row)) in rows.enumerate() {
            add_scaled(gradient_row, second_error, work.values[0][index]);
            first_error[index] = dot(row, second_error) * work.slopes[0][index];
        }
        add_scaled(b1, first_error, 1.0);
        for &feature in active {
            add_scaled(&mut w1[feature * width..][..width], first_error, 1.0);
        }
    }
}

/// Replaces z by s(z) and keeps s'(z).
fn activate(values: &mut [f32], slopes: &mut [f32]) {
    for (value, slope) in values.iter_mut().zip(slopes) {
        let (z, sigmoid) = (*value, 1.0 / (1.0 + (-*value).exp()));
        *value = z * sigmoid;
        *slope = sigmoid * (1.0 + z * (1.0 - sigmoid));
    }
}

fn add_scaled(to: &mut [f32], from: &[f32], scale: f32) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += scale * from);
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let tail: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + tail
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn gradient_is_that_of_finite_differences() {
        let active = [0, 7, 14, 21, 28, 35, 36, 50];
        let mut network = Network::random(11, &mut ChaCha8Rng::seed_from_u64(3));
        let mut work = Workspace::new(11);
        let mut gradient = vec![0.0; Network::n_parameters(11)];
        network.predict(&active, &mut work);
        network.backward(&active, 1.0, &mut work, &mut gradient);
        for (parameter, &wanted) in gradient.iter().enumerate() {
            let mut shifted = |by: f32| {
                let old = network.parameters[parameter];
                network.parameters[parameter] = old + by;
                let value = network.predict(&active, &mut work);
                network.parameters[parameter] = old;
                value
            };
            let slope = (shifted(1e-2) - shifted(-1e-2)) / 2e-2;
            assert!((slope - wanted).abs() < 2e-3, "{parameter}: {slope} is not {wanted}");
        }
    }
}
