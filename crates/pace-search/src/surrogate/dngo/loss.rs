//! [`Loss`]: the loss of the network.

use serde::{Deserialize, Serialize};

/// exp(-80) is about 1e-35: beside 1 it is 0, and a thousandth of it is still a normal number.
const WIDEST: f32 = 80.0;

/// The loss of the network. The regression on its basis is fitted to the scores in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// mean_i (f_i - y_i)^2.
    Squared,
    /// Mean of log(1 + exp(f_j - f_i)) over pairs with y_i > y_j: only the order of the scores counts (Burges et al. 2005).
    Ranking,
}

impl Loss {
    /// Writes the derivative by each output, and returns the loss. All slices have the same length.
    pub(super) fn derivative(self, outputs: &[f32], targets: &[f32], by_output: &mut [f32]) -> f32 {
        match self {
            Loss::Squared => squared(outputs, targets, by_output),
            Loss::Ranking => ranking(outputs, targets, by_output),
        }
    }
}

fn squared(outputs: &[f32], targets: &[f32], by_output: &mut [f32]) -> f32 {
    let n = outputs.len() as f32;
    let mut sum = 0.0;
    for ((f, y), by) in outputs.iter().zip(targets).zip(by_output) {
        *by = 2.0 * (f - y) / n;
        sum += (f - y) * (f - y);
    }
    sum / n
}

fn ranking(outputs: &[f32], targets: &[f32], by_output: &mut [f32]) -> f32 {
    by_output.fill(0.0);
    let (mut sum, mut n_pairs) = (0.0, 0.0);
    for i in 0..outputs.len() {
        for j in (0..outputs.len()).filter(|&j| targets[i] > targets[j]) {
            let gap = outputs[i] - outputs[j];
            // exp of a number <= 0 cannot overflow, and is 0 before it is subnormal.
            let decay = if gap.abs() > WIDEST { 0.0 } else { (-gap.abs()).exp() };
            sum += decay.ln_1p() + (-gap).max(0.0);
            n_pairs += 1.0;
            let slope = if gap > 0.0 { decay } else { 1.0 } / (1.0 + decay);
            by_output[i] -= slope;
            by_output[j] += slope;
        }
    }
    // Without a pair all derivatives are zero already.
    let n_pairs = f32::max(n_pairs, 1.0);
    by_output.iter_mut().for_each(|by| *by /= n_pairs);
    sum / n_pairs
}

#[cfg(test)]
mod tests {
    use super::Loss;

    #[test]
    fn derivatives_are_those_of_finite_differences() {
        let (outputs, targets) = ([0.3, -1.1, 0.8, 0.2], [1.0, 0.5, 0.5, -2.0]);
        for loss in [Loss::Squared, Loss::Ranking] {
            let mut ours = [0.0; 4];
            loss.derivative(&outputs, &targets, &mut ours);
            for (i, ours) in ours.into_iter().enumerate() {
                let value = |by: f32| {
                    let mut moved = outputs;
                    moved[i] += by;
                    loss.derivative(&moved, &targets, &mut [0.0; 4])
                };
                let numeric = (value(1e-2) - value(-1e-2)) / 2e-2;
                assert!((ours - numeric).abs() < 1e-3, "{loss:?} {i}: {ours}, by differences {numeric}");
            }
        }
        let mut none = [f32::NAN; 2];
        assert_eq!((Loss::Ranking.derivative(&[1.0, 2.0], &[3.0, 3.0], &mut none), none), (0.0, [0.0; 2]));
    }

    #[test]
    fn wide_gaps_have_no_subnormal_derivatives() {
        for gap in 70..110 {
            let mut by_output = [0.0; 2];
            // Orders that are right have the small derivatives.
            let value = Loss::Ranking.derivative(&[gap as f32, 0.0], &[1.0, 0.0], &mut by_output);
            assert!(!value.is_subnormal() && by_output.iter().all(|by| !by.is_subnormal()), "{gap}: {by_output:?}");
            let value = Loss::Ranking.derivative(&[0.0, gap as f32], &[1.0, 0.0], &mut by_output);
            assert_eq!((value, by_output), (gap as f32, [-1.0, 1.0]));
        }
    }
}
