//! [`AffineMap`]: a straight line through pairs.

use crate::error::Error;

/// `y = slope x + offset`, with its residual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AffineMap {
    /// Change of y per unit of x.
    pub slope: f64,
    /// y at x = 0.
    pub offset: f64,
    /// Standard deviation of the residuals, with n - 2 degrees of freedom.
    pub residual_std: f64,
}

impl AffineMap {
    /// The identity, for the network's own predictions.
    pub const IDENTITY: AffineMap = AffineMap { slope: 1.0, offset: 0.0, residual_std: 0.0 };

    /// Least squares on pairs (x, y). There must be at least three, and at least two different x.
    pub fn fit(pairs: &[(f64, f64)]) -> Result<AffineMap, Error> {
        if pairs.len() < 3 {
            return Err(Error::TooFewRows { n_rows: pairs.len(), wanted: 3 });
        }
        if let Some((row, &(x, y))) = pairs.iter().enumerate().find(|(_, (x, y))| !(x.is_finite() && y.is_finite())) {
            return Err(Error::BadTarget { row, value: if x.is_finite() { y } else { x } });
        }
        let n = pairs.len() as f64;
        let mean_x = pairs.iter().map(|(x, _)| x).sum::<f64>() / n;
        let mean_y = pairs.iter().map(|(_, y)| y).sum::<f64>() / n;
        let xy: f64 = pairs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let xx: f64 = pairs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
        if xx == 0.0 {
            let range = "at least two pairs must differ in it";
            return Err(Error::BadSetting { name: "x", value: format!("{mean_x} in all pairs"), range });
        }
        let slope = xy / xx;
        let offset = mean_y - slope * mean_x;
        let squares: f64 = pairs.iter().map(|(x, y)| (y - slope * x - offset).powi(2)).sum();
        Ok(AffineMap { slope, offset, residual_std: (squares / (n - 2.0)).sqrt() })
    }

    /// y at x.
    pub fn apply(&self, x: f64) -> f64 {
        self.slope * x + self.offset
    }
}
