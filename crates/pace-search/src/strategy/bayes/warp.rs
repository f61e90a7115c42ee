//! [`Warp`]: the transformation of scores before a surrogate sees them.

use pace_graph::mean_std;
use serde::{Deserialize, Serialize};

use crate::metrics::ranks;
use crate::numerics::normal;

/// The transformation of scores before a surrogate is fitted to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Warp {
    /// Mean 0 and standard deviation 1.
    Standardise,
    /// Normal quantiles of the ranks: rank r of n becomes the quantile of (r - 1/2) / n. Equal scores share their mean rank.
    ///
    /// If a few scores are very bad, such as those of networks that do not train, plain scores leave almost no difference
    /// between the good ones. Ranks ignore how bad the bad ones are.
    Ranks,
}

impl Warp {
    /// Changes the scores in place.
    pub fn apply(self, y: &mut [f64]) {
        match self {
            Warp::Standardise => standardise(y),
            Warp::Ranks => rank(y),
        }
    }
}

/// Scores that are all equal become 0.
fn standardise(y: &mut [f64]) {
    let (mean, std) = mean_std(y.iter().copied());
    let scale = if std > 0.0 { std } else { 1.0 };
    y.iter_mut().for_each(|y| *y = (*y - mean) / scale);
}

fn rank(y: &mut [f64]) {
    let n = y.len() as f64;
    // Ranks count from 0, so a half more is rank - 1/2 of the formula.
    let ranks = ranks(y);
    y.iter_mut().zip(ranks).for_each(|(y, rank)| *y = normal::quantile((rank + 0.5) / n));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_become_normal_quantiles() {
        let mut y = [0.1, 0.94, 0.93, 0.93, 0.1];
        Warp::Ranks.apply(&mut y);
        // Of 5: ranks 1 and 2 are equal, then 3 and 4, then 5, the quantile of 0.9.
        assert_eq!(y[0], y[4]);
        assert_eq!(y[2], y[3]);
        assert!((y[1] - 1.281_551_565_544_600_4).abs() < 1e-12, "{}", y[1]);
        assert!((y[0] + 0.841_621_233_572_914_2).abs() < 1e-12 && (y[2] - 0.253_347_103_135_799_7).abs() < 1e-12);
    }

    #[test]
    fn equal_scores_become_zero() {
        for warp in [Warp::Standardise, Warp::Ranks] {
            let mut y = [3.0; 4];
            warp.apply(&mut y);
            assert!(y.iter().all(|y| y.abs() < 1e-12));
        }
    }
}
