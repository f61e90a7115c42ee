//! [`Scale`]: from the prediction of a network to a score, and from a score to its training target.

/// Number of knots of a ranked scale.
const N_KNOTS: usize = 129;
/// The outermost knots are at the quantiles `1 / (1 + e^t)`, about 2 in a million.
const LAST_LOGIT: f64 = 13.0;
/// Tukey's lambda distribution with this lambda is close to the normal distribution, and its quantiles have a closed form.
const LAMBDA: f64 = 0.14;

/// A piecewise linear map that never falls. Beyond its ends it continues with the slope of the end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    /// (prediction, score), ascending.
    knots: Vec<(f64, f64)>,
}

impl Scale {
    /// A scale with these [`knots`](Scale::knots); `None` if there are fewer than two or they do not ascend.
    pub(super) fn from_knots(knots: Vec<(f64, f64)>) -> Option<Scale> {
        let ascending = knots.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
        (knots.len() >= 2 && ascending).then_some(Scale { knots })
    }

    pub(super) fn knots(&self) -> &[(f64, f64)] {
        &self.knots
    }

    /// `score = mean + std * prediction`, and the target of every score.
    pub(crate) fn standardised(scores: &[f64], train: &[usize]) -> (Scale, Vec<f32>) {
        let (mean, std) = mean_std(scores, train);
        let targets = scores.iter().map(|score| ((score - mean) / std) as f32).collect();
        (Scale { knots: vec![(0.0, mean), (1.0, mean + std)] }, targets)
    }

    /// Scores by their ranks, and the target of every score. If the share p of `train` is below a score, its target is the
    /// quantile `(p^l - (1 - p)^l) / l` of an almost normal distribution.
    ///
    /// This spreads scores that are close together, and outliers do not dominate the squared error.
    pub(crate) fn ranked(scores: &[f64], train: &[usize]) -> (Scale, Vec<f32>) {
        let mut sorted: Vec<f64> = train.iter().map(|&row| scores[row]).collect();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len() as f64;
        let target = |&score: &f64| {
            let below = sorted.partition_point(|&other| other < score) as f64;
            let up_to = sorted.partition_point(|&other| other <= score) as f64;
            quantile(((below + up_to) / 2.0).clamp(0.5, n - 0.5) / n) as f32
        };
        let knot = |index: usize| {
            let logit = LAST_LOGIT * (2.0 * index as f64 / (N_KNOTS as f64 - 1.0) - 1.0);
            let p = 1.0 / (1.0 + (-logit).exp());
            let place = p * n - 0.5;
            let low = place.floor().clamp(0.0, n - 1.0);
            let (below, above) = (sorted[low as usize], sorted[(low + 1.0).min(n - 1.0) as usize]);
            // Knots never fall, so rounding must not leave the interval.
            let score = (below + (above - below) * (place - low).clamp(0.0, 1.0)).clamp(below, above);
            (quantile(p), score)
        };
        (Scale { knots: (0..N_KNOTS).map(knot).collect() }, scores.iter().map(target).collect())
    }

    /// The score of a prediction.
    pub(crate) fn score(&self, prediction: f64) -> f64 {
        let after = self.knots.partition_point(|&(knot, _)| knot <= prediction).clamp(1, self.knots.len() - 1);
        let ((x0, y0), (x1, y1)) = (self.knots[after - 1], self.knots[after]);
        y0 + (y1 - y0) * (prediction - x0) / (x1 - x0)
    }
}

fn quantile(p: f64) -> f64 {
    (p.powf(LAMBDA) - (1.0 - p).powf(LAMBDA)) / LAMBDA
}

/// Mean and standard deviation of the rows with indices `train`. The latter is never 0.
pub(crate) fn mean_std(scores: &[f64], train: &[usize]) -> (f64, f64) {
    let (mean, std) = pace_graph::mean_std(train.iter().map(|&row| scores[row]));
    (mean, std.max(f64::MIN_POSITIVE.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standardised_scores_come_back() {
        let scores = [1.0, 2.0, 6.0, 100.0];
        let (scale, targets) = Scale::standardised(&scores, &[0, 1, 2]);
        for (score, &target) in scores.into_iter().zip(&targets) {
            assert!((scale.score(f64::from(target)) - score).abs() < 1e-4 * score);
        }
        assert!(targets[..3].iter().sum::<f32>().abs() < 1e-6);
    }

    #[test]
    fn ranked_scores_come_back_and_are_spread_out() {
        // Half of them within a hundredth of the range.
        let scores: Vec<f64> =
            (0..4000).map(|i| if i % 2 == 0 { f64::from(i) / 400_000.0 } else { f64::from(i) / 4000.0 }).collect();
        let train: Vec<usize> = (0..scores.len()).collect();
        let (scale, targets) = Scale::ranked(&scores, &train);
        for (score, &target) in scores.iter().zip(&targets) {
            assert!((scale.score(f64::from(target)) - score).abs() < 0.02, "{score} {target}");
        }
        let squares = targets.iter().map(|target| target * target).sum::<f32>() / targets.len() as f32;
        assert!((squares.sqrt() - 1.46).abs() < 0.05, "{squares}");
        assert!(Scale::from_knots(scale.knots().to_vec()).is_some());
        assert!(Scale::from_knots(vec![(0.0, 1.0), (1.0, 0.0)]).is_none());
    }
}
