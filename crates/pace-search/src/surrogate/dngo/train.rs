//! The training of one network: Adam on mini-batches.

use faer::MatRef;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::DngoConfig;
use super::network::{Network, Trace};
use crate::error::Error;

const DECAY_1: f32 = 0.9;
const DECAY_2: f32 = 0.999;
const EPSILON: f32 = 1e-8;
/// Smaller gradients and moments count as 0. Beside epsilon they move nothing, but their squares, and what is left of them after
/// many steps, are subnormal numbers, on which arithmetic is slow.
const LEAST_GRADIENT: f32 = 1e-17;
const LEAST_FIRST: f32 = 1e-30;
const LEAST_SECOND: f32 = 1e-36;

/// Fits a network to points x [D, N], one per column, and targets y [N].
///
/// Each epoch takes the rows in a new random order, and skips the last ones if they do not fill a batch.
pub(super) fn train(
    config: &DngoConfig,
    x: MatRef<'_, f32>,
    y: &[f32],
    rng: &mut ChaCha8Rng,
) -> Result<Network, Error> {
    let mut sizes = vec![config.width; config.depth + 2];
    sizes[0] = x.nrows();
    sizes[config.depth + 1] = 1;
    let mut network = Network::random(sizes, rng);
    let batch = config.batch.unwrap_or(y.len()).min(y.len());
    let mut trace = Trace::new(&network, batch);
    let (mut gradient, mut targets) = (vec![0.0; network.n_parameters()], vec![0.0; batch]);
    let (mut outputs, mut by_output) = (vec![0.0; batch], vec![0.0; batch]);
    let mut adam = Adam::new(network.n_parameters());
    let mut order: Vec<usize> = (0..y.len()).collect();
    let n_steps = config.epochs * (y.len() / batch);
    let mut step = 0;
    for _ in 0..config.epochs {
        // The order does not matter if all rows are one batch.
        if batch < y.len() {
            order.shuffle(rng);
        }
        for rows in order.chunks_exact(batch) {
            for (i, &row) in rows.iter().enumerate() {
                trace.input().col_mut(i).copy_from(x.col(row));
                targets[i] = y[row];
            }
            network.forward(&mut trace);
            outputs.iter_mut().zip(trace.output().row(0).iter()).for_each(|(output, f)| *output = *f);
            let loss = config.loss.derivative(&outputs, &targets, &mut by_output);
            step += 1;
            if !loss.is_finite() {
                return Err(Error::Diverged { step, n_steps });
            }
            trace.output_error().row_mut(0).iter_mut().zip(&by_output).for_each(|(error, by)| *error = *by);
            network.backward(&mut trace, &mut gradient);
            let done = (step - 1) as f64 / n_steps as f64;
            let share = if config.cosine_decay { 0.5 * (1.0 + (std::f64::consts::PI * done).cos()) } else { 1.0 };
            adam.step(network.parameters_mut(), &gradient, (config.learning_rate * share) as f32, config.weight_decay);
        }
    }
    Ok(network)
}

/// Adam with decoupled weight decay (Kingma & Ba 2015; Loshchilov & Hutter 2019).
struct Adam {
    first: Vec<f32>,
    second: Vec<f32>,
    n_steps: i32,
}

impl Adam {
    fn new(n_parameters: usize) -> Adam {
        Adam { first: vec![0.0; n_parameters], second: vec![0.0; n_parameters], n_steps: 0 }
    }

    fn step(&mut self, parameters: &mut [f32], gradient: &[f32], rate: f32, weight_decay: f64) {
        self.n_steps += 1;
        let unbias_1 = 1.0 / (1.0 - DECAY_1.powi(self.n_steps));
        let unbias_2 = 1.0 / (1.0 - DECAY_2.powi(self.n_steps));
        let keep = 1.0 - rate * weight_decay as f32;
        let moments = self.first.iter_mut().zip(&mut self.second);
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || {
                for ((parameter, &g), (first, second)) in parameters.iter_mut().zip(gradient).zip(moments) {
                    let g = cut(g, LEAST_GRADIENT);
                    *first = cut(DECAY_1 * *first + (1.0 - DECAY_1) * g, LEAST_FIRST);
                    *second = cut(DECAY_2 * *second + (1.0 - DECAY_2) * g * g, LEAST_SECOND);
                    let direction = *first * unbias_1 / ((*second * unbias_2).sqrt() + EPSILON);
                    *parameter = keep * *parameter - rate * direction;
                }
            },
        );
    }
}

/// A number, or 0 if it is smaller than `least`. NaN stays.
#[inline(always)]
fn cut(value: f32, least: f32) -> f32 {
    if value.abs() < least { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_vanishing_gradients_are_never_subnormal() {
        // From 1 to below the smallest number, each followed by nothing for longer than any fit.
        let first_gradient: Vec<f32> = (0..46).map(|power| 10.0_f32.powi(-power)).collect();
        let (mut parameters, mut adam) = (vec![0.5; 46], Adam::new(46));
        for step in 0..100_000 {
            let gradient = if step == 0 { first_gradient.clone() } else { vec![0.0; 46] };
            adam.step(&mut parameters, &gradient, 1e-2, 0.0);
            assert!(adam.first.iter().chain(&adam.second).all(|moment| !moment.is_subnormal()), "step {step}");
        }
        assert_eq!(adam.first, [0.0; 46]);
    }

    #[test]
    fn what_is_cut_moves_no_parameter() {
        let (mut cut, mut plain) = (vec![0.5_f32; 30], vec![0.5_f32; 30]);
        let (mut adam, mut moments) = (Adam::new(30), vec![(0.0_f32, 0.0_f32); 30]);
        for step in 1..=200 {
            let gradient: Vec<f32> = (0..30).map(|power| (step as f32).sin() * 10.0_f32.powi(-power)).collect();
            adam.step(&mut cut, &gradient, 1e-2, 0.0);
            let (unbias_1, unbias_2) = (1.0 / (1.0 - DECAY_1.powi(step)), 1.0 / (1.0 - DECAY_2.powi(step)));
            for ((parameter, g), (first, second)) in plain.iter_mut().zip(&gradient).zip(&mut moments) {
                *first = DECAY_1 * *first + (1.0 - DECAY_1) * g;
                *second = DECAY_2 * *second + (1.0 - DECAY_2) * g * g;
                *parameter -= 1e-2 * *first * unbias_1 / ((*second * unbias_2).sqrt() + EPSILON);
            }
        }
        assert!(cut.iter().zip(&plain).all(|(cut, plain)| (cut - plain).abs() < 1e-6), "{cut:?} {plain:?}");
    }
}
