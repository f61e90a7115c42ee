//! How well a surrogate predicts held-out rows.

use pace_search::Matrix;
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
        let n = y.len() as f64;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / n;
        let (mean_p, mean_y) = (mean(&posterior.mean), mean(y));
        let (mut square, mut pp, mut yy, mut py, mut nlpd) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for ((p, v), y) in posterior.mean.iter().zip(&posterior.variance).zip(y) {
            let v = v + posterior.noise;
            square += (p - y).powi(2);
            pp += (p - mean_p).powi(2);
            yy += (y - mean_y).powi(2);
            py += (p - mean_p) * (y - mean_y);
            nlpd += 0.5 * ((2.0 * std::f64::consts::PI * v).ln() + (p - y).powi(2) / v);
        }
        Score { rmse: (square / n).sqrt(), pearson: py / (pp * yy).sqrt(), nlpd: nlpd / n }
    }
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rmse {:.4} r {:.4} nlpd {:.4}", self.rmse, self.pearson, self.nlpd)
    }
}
