//! [`Gp`]: a Gaussian process on the ranks of scores, and [`FittedGp`], one that has learnt.

use anyhow::Result;
use pace_graph::Vectors;
use pace_search::strategy::Warp;
use pace_search::surrogate::{AdditiveGpConfig, Parts, Surrogate, SurrogateSettings};
use pace_search::{Matrix, widen};

use super::Prediction;

/// A Gaussian process with one length-scale per kind of features: some hundred scores cannot tell hundreds of length-scales apart.
///
/// It learns the normal quantiles of the ranks of the scores, because one failed experiment with a score far below all others would
/// leave no difference between the rest. Predictions are mapped back by the same quantiles, so they lie within the known scores.
pub struct Gp {
    x: Matrix,
    parts: Vec<usize>,
    seed: u64,
}

/// More known rows than that take too long: an exact fit is cubic. A posterior keeps the best of them.
const MAX_ROWS: usize = 4000;

impl Gp {
    /// On several kinds of vectors side by side, each column scaled to spread 1.
    pub fn new(kinds: &[&Vectors], seed: u64) -> Gp {
        let kinds: Vec<Vectors> = kinds.iter().map(|vectors| (*vectors).clone().standardised()).collect();
        let parts: Vec<usize> = kinds.iter().map(Vectors::width).collect();
        let n = kinds.first().map_or(0, Vectors::len);
        let row = |row: usize| kinds.iter().flat_map(|vectors| vectors.row(row)).copied().collect::<Vec<f32>>();
        let all = Vectors::from_rows((0..n).map(row).collect::<Vec<_>>(), parts.iter().sum());
        Gp { x: widen(&all), parts, seed }
    }

    /// Predicts the scores of some rows from those of others.
    ///
    /// # Errors
    /// Those of the fit.
    pub fn predict(&self, known: &[usize], scores: &[f64], wanted: &[usize]) -> Result<Vec<Prediction>> {
        let rows =
            |rows: &[usize]| Matrix::from_fn(rows.len(), self.x.ncols(), |row, column| self.x[(rows[row], column)]);
        let (x, at) = (rows(known), rows(wanted));
        Ok(FittedGp::new(&x, self.parts.clone(), scores, self.seed)?.predict(&at))
    }
}

/// A [`Gp`] that has learnt.
pub struct FittedGp {
    surrogate: Box<dyn Surrogate>,
    back: Quantiles,
}

impl FittedGp {
    /// Learns the scores of rows, whose columns have spread 1 and are of several kinds: `parts` says how many of each.
    ///
    /// # Errors
    /// Those of the fit.
    pub fn new(x: &Matrix, parts: Vec<usize>, scores: &[f64], seed: u64) -> Result<FittedGp> {
        let config = AdditiveGpConfig {
            parts: Parts::Widths(parts),
            noise: 0.2,
            max_rows: MAX_ROWS,
            learn_rows: 600,
            max_iterations: 30,
            ..AdditiveGpConfig::new(1)
        };
        let mut y = scores.to_vec();
        Warp::Ranks.apply(&mut y);
        let surrogate = Box::new(config.fit_with(x.as_ref(), &y, seed, &mut |_| {})?);
        Ok(FittedGp { surrogate, back: Quantiles::new(y, scores) })
    }

    /// Predicts the scores of other rows.
    pub fn predict(&self, x: &Matrix) -> Vec<Prediction> {
        let posterior = self.surrogate.predict(x.as_ref());
        let spread = |mean: f64, variance: f64| {
            let std = variance.max(0.0).sqrt();
            0.5 * (self.back.score(mean + std) - self.back.score(mean - std))
        };
        let predictions = posterior.mean.iter().zip(&posterior.variance);
        predictions
            .map(|(&mean, &variance)| Prediction { mean: self.back.score(mean), std: Some(spread(mean, variance)) })
            .collect()
    }
}

/// Scores by normal quantile, increasing.
struct Quantiles(Vec<(f64, f64)>);

impl Quantiles {
    fn new(quantiles: Vec<f64>, scores: &[f64]) -> Quantiles {
        let mut pairs: Vec<(f64, f64)> = quantiles.into_iter().zip(scores.iter().copied()).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        pairs.dedup_by(|a, b| a.0 == b.0);
        Quantiles(pairs)
    }

    /// Between two known scores by a straight line; beyond them the last one.
    fn score(&self, quantile: f64) -> f64 {
        let after = self.0.partition_point(|(known, _)| *known < quantile);
        match (after.checked_sub(1).map(|before| self.0[before]), self.0.get(after)) {
            (None, Some(&(_, score))) | (Some((_, score)), None) => score,
            (Some((q0, y0)), Some(&(q1, y1))) => y0 + (y1 - y0) * (quantile - q0) / (q1 - q0),
            (None, None) => f64::NAN,
        }
    }
}

#[cfg(test)]
mod tests {
    use pace_graph::Vectors;

    use super::{Gp, Quantiles};

    #[test]
    fn quantiles_lead_back_to_the_scores() {
        let back = Quantiles::new(vec![1.0, -1.0, 0.0, 0.0], &[30.0, 10.0, 20.0, 20.0]);
        assert_eq!([-5.0, -1.0, -0.5, 0.0, 1.0, 9.0].map(|q| back.score(q)), [10.0, 10.0, 15.0, 20.0, 30.0, 30.0]);
    }

    #[test]
    fn a_line_is_learnt_in_its_own_units() {
        let x: Vec<f32> = (0..40).map(|i| i as f32).collect();
        let vectors = Vectors::new(x.clone(), 1);
        let gp = Gp::new(&[&vectors], 1);
        let known: Vec<usize> = (0..40).filter(|row| row % 4 != 1).collect();
        let scores: Vec<f64> = known.iter().map(|&row| 1000.0 + f64::from(x[row])).collect();
        for (prediction, row) in gp.predict(&known, &scores, &[5, 13, 21]).unwrap().iter().zip([5.0, 13.0, 21.0]) {
            assert!((prediction.mean - 1000.0 - row).abs() < 3.0, "{} at {row}", prediction.mean);
            assert!(prediction.std.is_some_and(|std| std > 0.0));
        }
    }
}
