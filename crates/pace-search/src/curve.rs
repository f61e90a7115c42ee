//! [`Trace`], [`Curve`] and [`Band`]: searches as numbers, to compare and to plot.

/// The scores of a search, query by query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The score of each query; `None` if it failed or has no answer.
    pub scores: Vec<Option<f64>>,
    /// The best query up to and including this one; `None` before the first score.
    pub incumbents: Vec<Option<usize>>,
}

impl Trace {
    /// The trace of these scores. Of equal scores the earliest counts as the best.
    pub fn of(scores: impl IntoIterator<Item = Option<f64>>) -> Trace {
        let mut trace = Trace::default();
        let mut best: Option<(usize, f64)> = None;
        for (id, score) in scores.into_iter().enumerate() {
            if let Some(score) = score.filter(|&score| best.is_none_or(|(_, best)| score > best)) {
                best = Some((id, score));
            }
            trace.scores.push(score);
            trace.incumbents.push(best.map(|(id, _)| id));
        }
        trace
    }

    /// How many queries.
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// Whether nothing was asked.
    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// The highest score; `None` if there is no score.
    pub fn best(&self) -> Option<f64> {
        self.scores[(*self.incumbents.last()?)?]
    }

    /// The number of queries until a score reaches `wanted`, up to a relative error of 1e-9; `None` if none does.
    pub fn queries_until(&self, wanted: f64) -> Option<usize> {
        let reaches = |score: &Option<f64>| score.is_some_and(|score| score >= wanted - 1e-9 * wanted.abs());
        self.scores.iter().position(reaches).map(|first| first + 1)
    }

    /// The best score so far after each query.
    pub fn best_so_far(&self) -> Curve {
        self.follow(|id| self.scores[id].unwrap_or(f64::NAN))
    }

    /// Another value of the best query so far, e.g. its test accuracy after a search by validation accuracy.
    pub fn follow(&self, value: impl Fn(usize) -> f64) -> Curve {
        Curve { values: self.incumbents.iter().map(|best| best.map_or(f64::NAN, &value)).collect() }
    }
}

/// A value per query; NaN as long as there is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Entry i is the value after i + 1 queries.
    pub values: Vec<f64>,
}

impl Curve {
    /// The difference between the best possible value and each value.
    pub fn regret(&self, optimum: f64) -> Curve {
        Curve { values: self.values.iter().map(|value| optimum - value).collect() }
    }
}

/// Mean and 95 % confidence band of curves over seeds.
///
/// ```text
/// mean +- t_(0.975, n - 1) * s / sqrt(n)
/// ```
///
/// with the sample standard deviation s over the n seeds that have a value there. A single seed has no band: low and high
/// are NaN. A curve that ends early, because the space ran out, keeps its last value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// Mean over seeds, after each query.
    pub mean: Vec<f64>,
    /// Lower end of the band.
    pub low: Vec<f64>,
    /// Upper end of the band.
    pub high: Vec<f64>,
    /// How many curves.
    pub n_seeds: usize,
}

impl Band {
    /// The band of these curves.
    pub fn of(curves: &[Curve]) -> Band {
        let length = curves.iter().map(|curve| curve.values.len()).max().unwrap_or(0);
        let mut band = Band { n_seeds: curves.len(), ..Band::default() };
        for query in 0..length {
            let at = curves.iter().filter_map(|curve| curve.values.get(query).or(curve.values.last()));
            let values: Vec<f64> = at.copied().filter(|value| value.is_finite()).collect();
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            let half = student_t_975(values.len().saturating_sub(1)) * (squares / (n - 1.0) / n).sqrt();
            band.mean.push(mean);
            band.low.push(mean - half);
            band.high.push(mean + half);
        }
        band
    }
}

/// The 97.5 % quantile of Student's t: a table, then the expansion in 1 / df around the normal quantile (Abramowitz &
/// Stegun 26.7.5), good to 4 digits from there on.
fn student_t_975(df: usize) -> f64 {
    const TABLE: [f64; 9] = [12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622];
    const Z: f64 = 1.959963984540054;
    match df {
        0 => f64::NAN,
        1..=9 => TABLE[df - 1],
        _ => {
            let v = df as f64;
            let (z3, z5, z7) = (Z.powi(3), Z.powi(5), Z.powi(7));
            Z + (z3 + Z) / (4.0 * v)
                + (5.0 * z5 + 16.0 * z3 + 3.0 * Z) / (96.0 * v * v)
                + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * Z) / (384.0 * v.powi(3))
                + (79.0 * Z.powi(9) + 776.0 * z7 + 1482.0 * z5 - 1920.0 * z3 - 945.0 * Z) / (92160.0 * v.powi(4))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::student_t_975;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (df, wanted) in [(1, 12.7062), (9, 2.2622), (10, 2.2281), (19, 2.0930), (30, 2.0423), (199, 1.9720)] {
            assert!((student_t_975(df) - wanted).abs() < 1e-4, "{df}: {}", student_t_975(df));
        }
    }
}
