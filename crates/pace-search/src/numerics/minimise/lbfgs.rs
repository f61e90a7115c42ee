//! Limited-memory BFGS.
//!
//! The direction is -H g, where H is built from the last few pairs s = change of x, y = change of g (two-loop
//! recursion; Liu & Nocedal 1989).

use std::collections::VecDeque;

use super::line_search::{Trial, search};
use crate::error::Error;
use crate::numerics::dense::{add_scaled, dot};

/// Limited-memory BFGS with these limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lbfgs {
    pub(crate) memory: usize,
    pub(crate) max_iterations: usize,
    /// Stop when an iteration gains less than this, relative to the value.
    pub(crate) tolerance: f64,
}

/// Value and gradient at a point.
pub(crate) type Objective<'a> = dyn FnMut(&[f64]) -> Result<(f64, Vec<f64>), Error> + 'a;

impl Lbfgs {
    /// Minimises from `x`. `evaluate` gives value and gradient. `report` gets the number and the value of every iteration.
    ///
    /// If the first evaluation fails, that is an error. If a later one fails, the step is shortened.
    pub(crate) fn minimize(
        &self,
        mut x: Vec<f64>,
        evaluate: &mut Objective<'_>,
        report: &mut dyn FnMut(usize, f64),
    ) -> Result<Vec<f64>, Error> {
        let (mut value, mut gradient) = evaluate(&x)?;
        let mut pairs: VecDeque<Pair> = VecDeque::new();
        for iteration in 1..=self.max_iterations {
            let direction = direction(&gradient, &pairs);
            let slope = dot(&direction, &gradient);
            let steepest = pairs.is_empty();
            if slope >= 0.0 || !slope.is_finite() {
                if steepest {
                    break;
                }
                pairs.clear();
                continue;
            }
            // Without curvature the length of the gradient says nothing about the step: start with a length of 1.
            let first = if steepest { 1.0 / dot(&gradient, &gradient).sqrt().max(1.0) } else { 1.0 };
            let origin = Trial { step: 0.0, value, slope, gradient: gradient.clone() };
            let found = search(origin, first, |step| {
                let (value, gradient) = evaluate(&along(&x, step, &direction)).ok()?;
                Some(Trial { step, value, slope: dot(&direction, &gradient), gradient })
            });
            let Some(found) = found else {
                if steepest {
                    break;
                }
                pairs.clear();
                continue;
            };
            let next = along(&x, found.step, &direction);
            pairs.extend(Pair::new(&x, &next, &gradient, &found.gradient));
            while pairs.len() > self.memory {
                pairs.pop_front();
            }
            let gain = value - found.value;
            (x, value, gradient) = (next, found.value, found.gradient);
            report(iteration, value);
            if gain <= self.tolerance * value.abs().max(1.0) {
                break;
            }
        }
        Ok(x)
    }
}

struct Pair {
    x: Vec<f64>,
    gradient: Vec<f64>,
    /// 1 / s^T y
    rho: f64,
}

impl Pair {
    /// `None` if the function does not curve upwards between the points.
    fn new(x: &[f64], next_x: &[f64], gradient: &[f64], next_gradient: &[f64]) -> Option<Pair> {
        let minus = |next: &[f64], last: &[f64]| next.iter().zip(last).map(|(a, b)| a - b).collect::<Vec<f64>>();
        let (x, gradient) = (minus(next_x, x), minus(next_gradient, gradient));
        let curvature = dot(&x, &gradient);
        (curvature > 1e-12 * dot(&gradient, &gradient).max(1e-300)).then(|| Pair { x, gradient, rho: 1.0 / curvature })
    }
}

fn along(x: &[f64], step: f64, direction: &[f64]) -> Vec<f64> {
    let mut point = x.to_vec();
    add_scaled(&mut point, step, direction);
    point
}

fn direction(gradient: &[f64], pairs: &VecDeque<Pair>) -> Vec<f64> {
    let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut alphas = Vec::with_capacity(pairs.len());
    for pair in pairs.iter().rev() {
        let alpha = pair.rho * dot(&pair.x, &direction);
        add_scaled(&mut direction, -alpha, &pair.gradient);
        alphas.push(alpha);
    }
    if let Some(last) = pairs.back() {
        let scale = 1.0 / (last.rho * dot(&last.gradient, &last.gradient));
        direction.iter_mut().for_each(|d| *d *= scale);
    }
    for (pair, alpha) in pairs.iter().zip(alphas.into_iter().rev()) {
        let beta = pair.rho * dot(&pair.gradient, &direction);
        add_scaled(&mut direction, alpha - beta, &pair.x);
    }
    direction
}
