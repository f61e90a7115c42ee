//! How well a surrogate predicts held-out rows.

use pace_search::Matrix;
use pace_search::metrics::{pearson, rmse};
use pace_search::surrogate::Surrogate;

/// Means over the held-out rows.
pub struct Score {
    /// Root of the mean squared error of the mean.
    pub rmse: f64,
    /// Pearson's correlation of mean and truth.
    pub pearson: f64,
    /// Negative log predictive density, -log N(y; mean, variance + noise), in nats per row.
    pub nlpd: f64,
}

impl Score {
    /// Of predictions for x [T, D] with truths y [T].
    pub fn of(surrogate: &dyn Surrogate, x: &Matrix, y: &[f64]) -> Score {
        let posterior = surrogate.predict(x.as_ref());
        let density = |((p, v), y): ((&f64, &f64), &f64)| {
            let v = v + posterior.noise;
            0.5 * ((2.0 * std::f64::consts::PI * v).ln() + (p - y).powi(2) / v)
        };
        let nlpd: f64 = posterior.mean.iter().zip(&posterior.variance).zip(y).map(density).sum();
        Score { rmse: rmse(&posterior.mean, y), pearson: pearson(&posterior.mean, y), nlpd: nlpd / y.len() as f64 }
    }
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rmse {:.4} r {:.4} nlpd {:.4}", self.rmse, self.pearson, self.nlpd)
    }
}
