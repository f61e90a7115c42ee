//! [`Axis`]: from numbers to pixels, and where the ticks go.

use super::is_drawable;
use crate::text::number;

/// Parts of smaller ranges are no longer numbers.
const LEAST_RANGE: f64 = 1e-290;

/// One direction of a chart.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis that shows all numbers that can be drawn between the pixels `from` and `to`, with a little room at both ends.
    pub fn around(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Axis {
        let drawable = values.filter(|&value| is_drawable(value));
        let low = drawable.clone().fold(f64::INFINITY, f64::min);
        let high = drawable.fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        // Numbers that hardly differ need room of their own size, else ticks fall together.
        let least = (1e-9 * low.abs().max(high.abs())).max(LEAST_RANGE);
        let room = if high - low > least { 0.04 * (high - low) } else { (0.05 * high.abs()).max(0.5) };
        Axis { low: low - room, high: high + room, from, to }
    }

    /// An axis of bars: from 0, or lower if there are negative ones.
    pub fn from_zero(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Axis {
        let drawable = values.filter(|&value| is_drawable(value));
        let low = drawable.clone().fold(0.0, f64::min);
        let high = drawable.fold(0.0, f64::max);
        let high = if high - low > LEAST_RANGE { high } else { low + 1.0 };
        let room = 0.06 * (high - low);
        Axis { low: if low < 0.0 { low - room } else { 0.0 }, high: high + room, from, to }
    }

    /// The pixel of a number.
    pub fn px(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// About `n_ticks` round numbers with their labels.
    pub fn ticks(&self, n_ticks: usize) -> Vec<(f64, String)> {
        let step = round_step((self.high - self.low) / n_ticks.max(1) as f64);
        let first = (self.low / step).ceil();
        let count = ((self.high / step).floor() - first).clamp(0.0, 100.0) as usize;
        let value = |index: usize| (first + index as f64) * step;
        (0..=count).map(|index| (value(index), label(value(index), step))).collect()
    }
}

/// The next number of the form 1, 2 or 5 times a power of ten.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= rough * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// A tick with as many decimals as its step needs, so that labels of an axis agree.
fn label(value: f64, step: f64) -> String {
    // Rounding must not make a power of ten a little less than it is.
    let decimals = -(step.log10() + 1e-9).floor();
    if (-7.0..=6.0).contains(&decimals) && value.abs() < 1e9 {
        let decimals = decimals.max(0.0) as usize;
        // Adding 0 turns -0 into 0.
        return format!("{:.decimals$}", (value / step).round() * step + 0.0);
    }
    if (value / step).round() == 0.0 { "0".to_owned() } else { number(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> Vec<String> {
        let axis = Axis { low, high, from: 0.0, to: 1.0 };
        axis.ticks(5).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(0.0, 10.0), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(-0.13, 0.31), ["-0.1", "0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(labels(93.012, 93.049), ["93.02", "93.03", "93.04"]);
    }

    #[test]
    fn any_numbers_make_an_axis() {
        let odd = [f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE, 0.0, -1e299, 1e299, 5e-324];
        for one in odd {
            for other in odd {
                for axis in [Axis::around, Axis::from_zero].map(|make| make([one, other].into_iter(), 0.0, 100.0)) {
                    assert!(axis.ticks(6).iter().all(|(value, _)| axis.px(*value).is_finite()), "{one} {other}");
                }
            }
        }
    }
}
