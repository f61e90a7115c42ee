//! [`Schedule`]: the learning rate over time.

use serde::{Deserialize, Serialize};

/// How the learning rate changes, as a factor of the configured one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// Not at all.
    Constant,
    /// Multiplied by `factor` when the epoch loss has not fallen below `(1 - 1e-4) best` for more than `patience` epochs:
    /// PyTorch's `ReduceLROnPlateau`, which the authors use on NA and BN (0.1 and 10).
    Plateau {
        /// What the rate is multiplied by.
        factor: f64,
        /// Epochs without improvement that are tolerated.
        patience: usize,
    },
    /// Linearly from 0 to 1 over the first steps, then linearly to 0 at the last: the authors' schedule on NAS-Bench.
    WarmupLinear {
        /// Steps until the full rate.
        warmup: usize,
    },
    /// The same rise, then half a cosine down to 0 at the last step.
    WarmupCosine {
        /// Steps until the full rate.
        warmup: usize,
    },
}

/// What a schedule remembers; part of a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScheduleState {
    /// The product of the plateau's reductions.
    factor: f64,
    /// The lowest epoch loss; `None` before the first epoch.
    best: Option<f64>,
    /// Epochs since then.
    bad_epochs: usize,
}

impl Default for ScheduleState {
    fn default() -> ScheduleState {
        ScheduleState { factor: 1.0, best: None, bad_epochs: 0 }
    }
}

/// How much lower, relatively, counts as an improvement: PyTorch's default.
const THRESHOLD: f64 = 1e-4;

impl Schedule {
    /// The factor of step `step` (from 0) of `n_steps`.
    pub fn factor(&self, state: &ScheduleState, step: usize, n_steps: usize) -> f64 {
        let ramp = |warmup: usize| {
            let done = (step + 1) as f64;
            if step < warmup {
                return (done / warmup as f64, 0.0);
            }
            (1.0, (step - warmup) as f64 / (n_steps - warmup).max(1) as f64)
        };
        match *self {
            Schedule::Constant => 1.0,
            Schedule::Plateau { .. } => state.factor,
            Schedule::WarmupLinear { warmup } => {
                let (rise, past) = ramp(warmup);
                rise * (1.0 - past)
            }
            Schedule::WarmupCosine { warmup } => {
                let (rise, past) = ramp(warmup);
                rise * 0.5 * (1.0 + (std::f64::consts::PI * past).cos())
            }
        }
    }

    /// Takes note of the loss of an epoch.
    pub fn end_epoch(&self, state: &mut ScheduleState, loss: f64) {
        let Schedule::Plateau { factor, patience } = *self else { return };
        if state.best.is_none_or(|best| loss < best * (1.0 - THRESHOLD)) {
            state.best = Some(loss);
            state.bad_epochs = 0;
            return;
        }
        state.bad_epochs += 1;
        if state.bad_epochs > patience {
            state.factor *= factor;
            state.bad_epochs = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plateau_waits_for_more_than_its_patience() {
        let schedule = Schedule::Plateau { factor: 0.1, patience: 2 };
        let mut state = ScheduleState::default();
        let mut factors = Vec::new();
        // Falls, stands still three times (the third is one too many), falls by less than the threshold, then by more.
        for loss in [10.0, 9.0, 9.0, 9.0, 9.0, 8.9999, 8.0] {
            schedule.end_epoch(&mut state, loss);
            factors.push(schedule.factor(&state, 0, 1));
        }
        assert_eq!(factors, [1.0, 1.0, 1.0, 1.0, 0.1, 0.1, 0.1]);
        assert_eq!((state.best, state.bad_epochs), (Some(8.0), 0));
    }

    #[test]
    fn ramps_rise_and_fall() {
        let state = ScheduleState::default();
        let linear = Schedule::WarmupLinear { warmup: 2 };
        let factors: Vec<f64> = (0..6).map(|step| linear.factor(&state, step, 6)).collect();
        assert_eq!(factors, [0.5, 1.0, 1.0, 0.75, 0.5, 0.25]);
        let cosine = Schedule::WarmupCosine { warmup: 0 };
        assert_eq!(cosine.factor(&state, 0, 4), 1.0);
        assert!((cosine.factor(&state, 2, 4) - 0.5).abs() < 1e-12);
        assert!(cosine.factor(&state, 3, 4) > 0.0, "the last step still moves");
    }
}
