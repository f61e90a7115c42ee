//! [`Rates`]: all runs of one side, so that a table can say more than the best of them.

use serde::{Deserialize, Serialize};

/// Best, middle and spread of several runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// The median.
    pub median: f64,
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// How many runs.
    pub n: usize,
}

impl Rates {
    /// Of these runs; `None` if there are none.
    pub fn of(runs: &[f64]) -> Option<Rates> {
        let mut sorted = runs.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (low, high, n) = (*sorted.first()?, *sorted.last()?, sorted.len());
        Some(Rates { median: f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]), low, high, n })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_stands_in_the_middle() {
        assert_eq!(Rates::of(&[]), None);
        assert_eq!(Rates::of(&[3.0, 1.0, 9.0]), Some(Rates { median: 3.0, low: 1.0, high: 9.0, n: 3 }));
        assert_eq!(Rates::of(&[4.0, 1.0, 2.0, 9.0]).map(|rates| rates.median), Some(3.0));
    }
}
