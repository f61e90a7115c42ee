//! A step length that satisfies the strong Wolfe conditions.
//!
//! Along a descent direction with slope g0 < 0, a step t is good when
//!
//! ```text
//! f(t) <= f(0) + 1e-4 t g0    and    |g(t)| <= 0.9 |g0|
//! ```
//!
//! Nocedal & Wright 2006, algorithms 3.5 and 3.6, as one loop over a bracket. If an evaluation fails, e.g. a Cholesky
//! factorisation far from the data, the step is shortened. Optimiser crates end the run instead.

const SUFFICIENT_DECREASE: f64 = 1e-4;
const CURVATURE: f64 = 0.9;
const MAX_EVALUATIONS: usize = 20;
/// Share of the bracket that a guess must leave on either side.
const MARGIN: f64 = 0.1;
const EXPANSION: f64 = 4.0;

/// The function at one step length.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) step: f64,
    pub(crate) value: f64,
    /// Derivative by the step length.
    pub(crate) slope: f64,
    pub(crate) gradient: Vec<f64>,
}

/// The far end of the bracket: unknown yet, a step whose evaluation failed, or a step that is too long.
enum End {
    Open,
    Failed(f64),
    At(Trial),
}

/// A good step, else the best one with sufficient decrease, else `None`. `evaluate` returns `None` if the function cannot be
/// computed.
pub(crate) fn search(origin: Trial, first: f64, mut evaluate: impl FnMut(f64) -> Option<Trial>) -> Option<Trial> {
    let (value_0, slope_0) = (origin.value, origin.slope);
    let (mut low, mut high, mut step) = (origin, End::Open, first);
    for _ in 0..MAX_EVALUATIONS {
        match evaluate(step).filter(|trial| trial.value.is_finite() && trial.slope.is_finite()) {
            None => high = End::Failed(step),
            Some(trial) if trial.value > value_0 + SUFFICIENT_DECREASE * step * slope_0 || trial.value >= low.value => {
                high = End::At(trial);
            }
            Some(trial) if trial.slope.abs() <= -CURVATURE * slope_0 => return Some(trial),
            Some(trial) => {
                let rises_away = match &high {
                    End::Open => trial.slope >= 0.0,
                    End::Failed(end) => trial.slope * (end - low.step) >= 0.0,
                    End::At(end) => trial.slope * (end.step - low.step) >= 0.0,
                };
                let old_low = std::mem::replace(&mut low, trial);
                if rises_away {
                    high = End::At(old_low);
                }
            }
        }
        step = match &high {
            End::Open => EXPANSION * step,
            End::Failed(end) => low.step + 0.25 * (end - low.step),
            End::At(end) if (end.step - low.step).abs() <= 1e-12 * low.step.max(1e-12) => break,
            End::At(end) => interpolate(&low, end),
        };
    }
    (low.step > 0.0).then_some(low)
}

/// The minimum of the cubic through both ends, kept away from the ends.
fn interpolate(low: &Trial, high: &Trial) -> f64 {
    let width = high.step - low.step;
    let d1 = low.slope + high.slope - 3.0 * (low.value - high.value) / (low.step - high.step);
    let d2 = (d1 * d1 - low.slope * high.slope).max(0.0).sqrt() * width.signum();
    let guess = high.step - width * (high.slope + d2 - d1) / (high.slope - low.slope + 2.0 * d2);
    let fraction = (guess - low.step) / width;
    low.step + width * if fraction.is_finite() { fraction.clamp(MARGIN, 1.0 - MARGIN) } else { 0.5 }
}
