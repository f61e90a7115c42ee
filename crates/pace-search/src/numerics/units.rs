//! [`Units`]: shift and scale to mean 0 and standard deviation 1.

use faer::{Mat, MatRef};

/// Shift and scale of each dimension.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Units {
    pub(crate) mean: Vec<f64>,
    pub(crate) scale: Vec<f64>,
}

impl Units {
    /// Mean and standard deviation of each column of x [N, D].
    pub(crate) fn per_dimension(x: MatRef<'_, f64>) -> Units {
        Units::of(x, |_| {})
    }

    /// The mean of each column, and one scale for all: the root of the mean variance.
    pub(crate) fn common(x: MatRef<'_, f64>) -> Units {
        Units::of(x, |variance| {
            let common = variance.iter().sum::<f64>() / variance.len() as f64;
            variance.fill(common);
        })
    }

    fn of(x: MatRef<'_, f64>, change: impl Fn(&mut [f64])) -> Units {
        let n = x.nrows() as f64;
        let mean: Vec<f64> = x.col_iter().map(|column| column.iter().sum::<f64>() / n).collect();
        let square = |(column, mean): (faer::ColRef<'_, f64>, &f64)| {
            column.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / n
        };
        let mut variance: Vec<f64> = x.col_iter().zip(&mean).map(square).collect();
        change(&mut variance);
        // A dimension that never varies keeps its scale. It contributes nothing to distances in the data.
        let scale = variance.iter().map(|&v| if v > f64::MIN_POSITIVE { v.sqrt() } else { 1.0 }).collect();
        Units { mean, scale }
    }

    /// From the units of the data to these.
    pub(crate) fn apply(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        Mat::from_fn(x.nrows(), x.ncols(), |i, d| (x[(i, d)] - self.mean[d]) / self.scale[d])
    }

    /// The inverse of [`apply`](Self::apply).
    pub(crate) fn undo(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        Mat::from_fn(x.nrows(), x.ncols(), |i, d| x[(i, d)] * self.scale[d] + self.mean[d])
    }
}
