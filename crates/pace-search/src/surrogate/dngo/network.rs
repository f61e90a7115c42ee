//! [`Network`]: the multilayer perceptron whose last hidden layer is the basis.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::tanh::tanh_biased;

/// h_0 = x, h_l = tanh(W_l h_(l-1) + b_l), f = w . h_L + c, in single precision.
///
/// All parameters are in one vector: for each layer W `[out, in]` by columns, then b `[out]`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Network {
    /// D, the widths of the hidden layers, 1.
    sizes: Vec<usize>,
    parameters: Vec<f32>,
}

/// Values of all layers for a block of points, one per column, and buffers for their derivatives.
pub(super) struct Trace {
    /// `[size, n]` for each layer, the input first and the output last.
    values: Vec<Mat<f32>>,
    errors: Vec<Mat<f32>>,
}

impl Trace {
    /// Buffers for n points.
    pub(super) fn new(network: &Network, n: usize) -> Trace {
        let zeros = || network.sizes.iter().map(|&size| Mat::zeros(size, n)).collect();
        Trace { values: zeros(), errors: zeros() }
    }

    /// The points `[D, n]`, to be written.
    pub(super) fn input(&mut self) -> &mut Mat<f32> {
        &mut self.values[0]
    }

    /// The last hidden layer `[H, n]`.
    pub(super) fn basis(&self) -> &Mat<f32> {
        &self.values[self.values.len() - 2]
    }

    /// f of every point.
    pub(super) fn output(&self) -> &Mat<f32> {
        &self.values[self.values.len() - 1]
    }

    /// The derivative of a loss by the output of each point `[1, n]`, to be written.
    pub(super) fn output_error(&mut self) -> &mut Mat<f32> {
        self.errors.last_mut().expect("there is an output layer")
    }
}

impl Network {
    /// Weights and biases uniform in +-1 / sqrt(in), as in the published code.
    pub(super) fn random(sizes: Vec<usize>, rng: &mut ChaCha8Rng) -> Network {
        let mut parameters = Vec::new();
        for pair in sizes.windows(2) {
            let limit = 1.0 / (pair[0] as f32).sqrt();
            parameters.extend((0..(pair[0] + 1) * pair[1]).map(|_| rng.random_range(-limit..limit)));
        }
        Network { sizes, parameters }
    }

    pub(super) fn parameters_mut(&mut self) -> &mut [f32] {
        &mut self.parameters
    }

    pub(super) fn n_parameters(&self) -> usize {
        self.parameters.len()
    }

    /// H
    pub(super) fn width(&self) -> usize {
        self.sizes[self.sizes.len() - 2]
    }

    /// W `[out, in]` and b `[out]` of each layer.
    fn layers(&self) -> impl DoubleEndedIterator<Item = (MatRef<'_, f32>, &[f32])> + ExactSizeIterator {
        let mut rest = self.parameters.as_slice();
        let layers: Vec<_> = self
            .sizes
            .windows(2)
            .map(|pair| {
                let (weights, tail) = rest.split_at(pair[0] * pair[1]);
                let (bias, tail) = tail.split_at(pair[1]);
                rest = tail;
                (MatRef::from_column_major_slice(weights, pair[1], pair[0]), bias)
            })
            .collect();
        layers.into_iter()
    }

    /// Computes all layers up to the basis.
    pub(super) fn forward_basis(&self, trace: &mut Trace) {
        let n_hidden = self.sizes.len() - 2;
        for (layer, (weights, bias)) in self.layers().take(n_hidden).enumerate() {
            let (below, above) = trace.values.split_at_mut(layer + 1);
            matmul(&mut above[0], Accum::Replace, weights, &below[layer], 1.0, Par::Seq);
            (0..above[0].ncols()).for_each(|i| tanh_biased(above[0].col_as_slice_mut(i), bias));
        }
    }

    /// Computes all layers.
    pub(super) fn forward(&self, trace: &mut Trace) {
        self.forward_basis(trace);
        let (weights, bias) = self.layers().next_back().expect("there is an output layer");
        let (below, above) = trace.values.split_at_mut(self.sizes.len() - 1);
        matmul(&mut above[0], Accum::Replace, weights, &below[below.len() - 1], 1.0, Par::Seq);
        above[0].row_mut(0).iter_mut().for_each(|f| *f += bias[0]);
    }

    /// Writes the derivatives of a loss by the parameters, given those by the output in the trace of [`forward`](Self::forward).
    pub(super) fn backward(&self, trace: &mut Trace, gradient: &mut [f32]) {
        let mut rest = gradient;
        for (layer, (weights, _)) in self.layers().enumerate().rev() {
            let (n_in, n_out) = (self.sizes[layer], self.sizes[layer + 1]);
            let first = rest.len() - n_out * (n_in + 1);
            let (earlier, own) = std::mem::take(&mut rest).split_at_mut(first);
            rest = earlier;
            let (by_weights, by_bias) = own.split_at_mut(n_in * n_out);
            let by_weights = MatMut::from_column_major_slice_mut(by_weights, n_out, n_in);
            let (below, above) = trace.errors.split_at_mut(layer + 1);
            let (values, error) = (&trace.values[layer], &above[0]);
            matmul(by_weights, Accum::Replace, error, values.transpose(), 1.0, Par::Seq);
            by_bias.fill(0.0);
            for i in 0..error.ncols() {
                by_bias.iter_mut().zip(error.col_as_slice(i)).for_each(|(sum, error)| *sum += error);
            }
            if layer > 0 {
                let below = &mut below[layer];
                matmul(&mut *below, Accum::Replace, weights.transpose(), error, 1.0, Par::Seq);
                for i in 0..below.ncols() {
                    damp(below.col_as_slice_mut(i), values.col_as_slice(i));
                }
            }
        }
    }
}

/// Turns the derivative by h = tanh(z) into that by z.
fn damp(errors: &mut [f32], values: &[f32]) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || errors.iter_mut().zip(values).for_each(|(error, h)| *error *= 1.0 - h * h),
    );
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn gradient_is_that_of_finite_differences() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut network = Network::random(vec![4, 6, 5, 1], &mut rng);
        let mut trace = Trace::new(&network, 3);
        *trace.input() = Mat::from_fn(4, 3, |_, _| rng.random_range(-1.0..1.0));
        let outer = [0.7, -1.2, 0.4];
        let mut loss = |network: &Network| {
            network.forward(&mut trace);
            trace.output().row(0).iter().zip(outer).map(|(f, outer)| f64::from(f * outer)).sum::<f64>()
        };
        let step = 1e-2;
        let numeric: Vec<f64> = (0..network.n_parameters())
            .map(|parameter| {
                let old = network.parameters[parameter];
                network.parameters[parameter] = old + step;
                let above = loss(&network);
                network.parameters[parameter] = old - step;
                let below = loss(&network);
                network.parameters[parameter] = old;
                (above - below) / f64::from(2.0 * step)
            })
            .collect();
        let mut gradient = vec![f32::NAN; network.n_parameters()];
        network.forward(&mut trace);
        trace.output_error().row_mut(0).iter_mut().zip(outer).for_each(|(error, outer)| *error = outer);
        network.backward(&mut trace, &mut gradient);
        for (parameter, (&ours, numeric)) in gradient.iter().zip(numeric).enumerate() {
            assert!((f64::from(ours) - numeric).abs() < 3e-4, "{parameter}: {ours}, by differences {numeric}");
        }
    }
}
