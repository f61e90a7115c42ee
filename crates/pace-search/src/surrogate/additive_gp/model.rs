//! [`AdditiveGp`]: the result of a fit.

use faer::{Mat, MatRef};
use pace_graph::mean_std;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::covariance::Covariance;
use super::solved::Solved;
use crate::error::Error;
use crate::numerics::dense::{dot, transposed_times};
use crate::numerics::product::dense_product;
use crate::numerics::rows::gather;
use crate::surrogate::{Posterior, Surrogate};

/// Rows that are predicted at a time.
const BLOCK: usize = 256;

/// The rows of a posterior.
#[derive(Clone, Debug)]
pub(super) struct Data {
    /// [n, D]
    pub(super) x: Mat<f64>,
    /// Standardised, best first, `[n]`.
    pub(super) y: Vec<f64>,
    /// What a score is in standardised units: offset and scale.
    units: (f64, f64),
}

impl Data {
    /// The rows with the highest scores.
    pub(super) fn best(x: MatRef<'_, f64>, y: &[f64], max_rows: usize) -> Data {
        let mut ranked: Vec<usize> = (0..y.len()).collect();
        ranked.sort_by(|&a, &b| y[b].total_cmp(&y[a]));
        ranked.truncate(max_rows);
        let (offset, scale) = mean_std(ranked.iter().map(|&row| y[row]));
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let standardised = ranked.iter().map(|&row| (y[row] - offset) / scale).collect();
        Data { x: gather(x, &ranked), y: standardised, units: (offset, scale) }
    }
}

/// A fitted Gaussian process with an additive covariance.
#[derive(Clone, Debug)]
pub struct AdditiveGp {
    covariance: Covariance,
    data: Data,
    max_rows: usize,
    /// L^-1 [n, n], with K = L L^T.
    inverse_lower: Mat<f64>,
    /// K^-1 y `[n]`.
    weights: Vec<f64>,
}

impl AdditiveGp {
    /// The posterior given these rows.
    pub(super) fn condition(covariance: Covariance, data: Data, max_rows: usize) -> Result<AdditiveGp, Error> {
        let k = covariance.between(data.x.as_ref(), data.x.as_ref());
        let Solved { inverse_lower, weights, .. } = Solved::new(k, covariance.log_noise.exp(), &data.y)?;
        Ok(AdditiveGp { covariance, data, max_rows, inverse_lower, weights })
    }

    /// Mean and variance of some rows in standardised units.
    fn block(&self, x: MatRef<'_, f64>) -> (Vec<f64>, Vec<f64>) {
        let cross = self.covariance.between(self.data.x.as_ref(), x);
        let mut solved = Mat::zeros(cross.nrows(), cross.ncols());
        dense_product(&mut solved, faer::Accum::Replace, &self.inverse_lower, &cross, 1.0);
        let total = self.covariance.variance();
        let explained = |j: usize| dot(solved.col_as_slice(j), solved.col_as_slice(j));
        let mean = transposed_times(&cross, &self.weights);
        (mean, (0..x.nrows()).map(|j| (total - explained(j)).max(0.0)).collect())
    }
}

impl Surrogate for AdditiveGp {
    fn predict(&self, x: MatRef<'_, f64>) -> Posterior {
        let n_dims = self.data.x.ncols();
        assert_eq!(x.ncols(), n_dims, "{} columns, but the fit saw {n_dims}", x.ncols());
        let starts: Vec<usize> = (0..x.nrows()).step_by(BLOCK).collect();
        let blocks: Vec<(Vec<f64>, Vec<f64>)> =
            starts.into_par_iter().map(|start| self.block(x.subrows(start, BLOCK.min(x.nrows() - start)))).collect();
        let (offset, scale) = self.data.units;
        let noise = scale * scale * self.covariance.log_noise.exp();
        let mut posterior = Posterior { mean: Vec::new(), variance: Vec::new(), noise };
        for (mean, variance) in blocks {
            posterior.mean.extend(mean.into_iter().map(|mean| offset + scale * mean));
            posterior.variance.extend(variance.into_iter().map(|variance| scale * scale * variance));
        }
        posterior
    }

    fn fantasise(&self, x: MatRef<'_, f64>) -> Box<dyn Surrogate> {
        let Data { x: known, y, units: (offset, scale) } = &self.data;
        let expected = self.predict(x).mean.into_iter().map(|mean| (mean - offset) / scale);
        let n = known.nrows();
        let rows =
            Mat::from_fn(
                n + x.nrows(),
                x.ncols(),
                |row, column| {
                    if row < n { known[(row, column)] } else { x[(row - n, column)] }
                },
            );
        let data = Data { x: rows, y: y.iter().copied().chain(expected).collect(), units: self.data.units };
        // More rows make the matrix no worse than it was, but for rounding: then the belief stays as it is.
        let imagined = AdditiveGp::condition(self.covariance.clone(), data, self.max_rows);
        Box::new(imagined.unwrap_or_else(|_| self.clone()))
    }

    fn refit(&self, x: MatRef<'_, f64>, y: &[f64]) -> Option<Result<Box<dyn Surrogate>, Error>> {
        let data = Data::best(x, y, self.max_rows);
        let again = AdditiveGp::condition(self.covariance.clone(), data, self.max_rows);
        Some(again.map(|gp| Box::new(gp) as Box<dyn Surrogate>))
    }
}
