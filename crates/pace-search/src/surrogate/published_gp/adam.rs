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
/// Smaller gradients and moments count as 0. Beside epsilon they move nothing, but their squares, and what is left of them after
/// many steps, are subnormal numbers, on which arithmetic is slow. Inducing points far from all rows have such gradients.
const LEAST_GRADIENT: f64 = 1e-150;
const LEAST_FIRST: f64 = 1e-200;
const LEAST_SECOND: f64 = 1e-304;

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
                let g = cut(g, LEAST_GRADIENT);
                *first = cut(DECAY_1 * *first + (1.0 - DECAY_1) * g, LEAST_FIRST);
                *second = cut(DECAY_2 * *second + (1.0 - DECAY_2) * g * g, LEAST_SECOND);
                *param += rate * *first / (second.sqrt() + EPSILON);
            }
        },
    );
}

/// A number, or 0 if it is smaller than `least`. NaN stays.
#[inline(always)]
fn cut(value: f64, least: f64) -> f64 {
    if value.abs() < least { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_vanishing_gradients_are_never_subnormal() {
        let first_gradient: Vec<f64> = (0..324).map(|power| 10.0_f64.powi(-power)).collect();
        let (mut params, mut adam) = (vec![0.5; 324], Adam::new(324));
        for step in 1..=20_000 {
            let gradient = if step == 1 { first_gradient.clone() } else { vec![0.0; 324] };
            adam.ascend(Adam::rate(1e-3, step), &mut params, &gradient);
            assert!(adam.first.iter().chain(&adam.second).all(|moment| !moment.is_subnormal()), "step {step}");
        }
        assert_eq!(adam.first, [0.0; 324]);
        // What is cut could not have moved a parameter.
        assert!(params[150..].iter().all(|&param| param == 0.5));
    }
}
