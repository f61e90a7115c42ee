//! Adam, as in the published code.

use faer::Mat;

/// The moments of the gradient of one array of parameters.
///
/// ```text
/// m = 0.9 m + 0.1 g,  v = 0.999 v + 0.001 g^2,  p += rate sqrt(1 - 0.999^t) / (1 - 0.9^t) m / (sqrt(v) + 1e-8)
/// ```
///
/// Kingma & Ba 2015, in the form of the end of their section 2: epsilon is added before the bias is corrected.
#[derive(Clone, Debug)]
pub(super) struct Adam {
    first: Vec<f64>,
    second: Vec<f64>,
}

const DECAY_1: f64 = 0.9;
const DECAY_2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

impl Adam {
    pub(super) fn new(n_params: usize) -> Adam {
        Adam { first: vec![0.0; n_params], second: vec![0.0; n_params] }
    }

    /// The rate of step t = 1, 2...
    pub(super) fn rate(learning_rate: f64, step: usize) -> f64 {
        let power = |decay: f64| 1.0 - decay.powf(step as f64);
        learning_rate * power(DECAY_2).sqrt() / power(DECAY_1)
    }

    /// Takes a step along the gradient.
    pub(super) fn ascend(&mut self, rate: f64, params: &mut [f64], gradient: &[f64]) {
        step(rate, params, gradient, &mut self.first, &mut self.second);
    }

    /// As [`ascend`](Self::ascend), for a matrix.
    pub(super) fn ascend_columns(&mut self, rate: f64, params: &mut Mat<f64>, gradient: &Mat<f64>) {
        let moments = self.first.chunks_mut(params.nrows()).zip(self.second.chunks_mut(params.nrows()));
        for (j, (first, second)) in moments.enumerate() {
            step(rate, params.col_as_slice_mut(j), gradient.col_as_slice(j), first, second);
        }
    }
}

fn step(rate: f64, params: &mut [f64], gradient: &[f64], first: &mut [f64], second: &mut [f64]) {
    let moments = first.iter_mut().zip(second);
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for ((param, &g), (first, second)) in params.iter_mut().zip(gradient).zip(moments) {
                *first = DECAY_1 * *first + (1.0 - DECAY_1) * g;
                *second = DECAY_2 * *second + (1.0 - DECAY_2) * g * g;
                *param += rate * *first / (second.sqrt() + EPSILON);
            }
        },
    );
}
