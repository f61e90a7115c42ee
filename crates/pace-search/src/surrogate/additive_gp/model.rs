//! [`AdditiveGp`]: the result of a fit.

use std::collections::HashMap;

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
    /// K without noise, [n, n].
    k: Mat<f64>,
    /// L^-1 [n, n], with K + v I = L L^T.
    inverse_lower: Mat<f64>,
    /// (K + v I)^-1 y `[n]`.
    weights: Vec<f64>,
}

impl AdditiveGp {
    /// The posterior given these rows.
    pub(super) fn condition(covariance: Covariance, data: Data, max_rows: usize) -> Result<AdditiveGp, Error> {
        let k = covariance.between(data.x.as_ref(), data.x.as_ref());
        AdditiveGp::solve(covariance, data, max_rows, k)
    }

    /// The posterior given rows with these covariances.
    fn solve(covariance: Covariance, data: Data, max_rows: usize, k: Mat<f64>) -> Result<AdditiveGp, Error> {
        let Solved { inverse_lower, weights, .. } = Solved::new(k.clone(), covariance.log_noise.exp(), &data.y)?;
        Ok(AdditiveGp { covariance, data, max_rows, k, inverse_lower, weights })
    }

    /// The posterior given other rows. Exponentials are most of the work, and those between rows of this posterior are known.
    fn recondition(&self, data: Data) -> Result<AdditiveGp, Error> {
        let bits = |x: &Mat<f64>, row: usize| x.row(row).iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
        let places: HashMap<Vec<u64>, usize> =
            (0..self.data.x.nrows()).map(|row| (bits(&self.data.x, row), row)).collect();
        let n = data.x.nrows();
        let known: Vec<Option<usize>> = (0..n).map(|row| places.get(&bits(&data.x, row)).copied()).collect();
        let new: Vec<usize> = (0..n).filter(|&row| known[row].is_none()).collect();
        let mut index = vec![0; n];
        new.iter().enumerate().for_each(|(place, &row)| index[row] = place);
        let fresh = self.covariance.between(gather(data.x.as_ref(), &new).as_ref(), data.x.as_ref()); // [new, n]
        let k = Mat::from_fn(n, n, |i, j| match (known[i], known[j]) {
            (Some(i), Some(j)) => self.k[(i, j)],
            (None, _) => fresh[(index[i], j)],
            (Some(_), None) => fresh[(index[j], i)],
        });
        AdditiveGp::solve(self.covariance.clone(), data, self.max_rows, k)
    }

    /// Results for all rows of `x`, some rows at a time, in parallel.
    fn by_blocks<T: Send>(&self, x: MatRef<'_, f64>, block: impl Fn(MatRef<'_, f64>) -> T + Sync) -> Vec<T> {
        let n_dims = self.data.x.ncols();
        assert_eq!(x.ncols(), n_dims, "{} columns, but the fit saw {n_dims}", x.ncols());
        let starts: Vec<usize> = (0..x.nrows()).step_by(BLOCK).collect();
        starts.into_par_iter().map(|start| block(x.subrows(start, BLOCK.min(x.nrows() - start)))).collect()
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
        let blocks = self.by_blocks(x, |rows| self.block(rows));
        let (offset, scale) = self.data.units;
        let noise = scale * scale * self.covariance.log_noise.exp();
        let mut posterior = Posterior { mean: Vec::new(), variance: Vec::new(), noise };
        for (mean, variance) in blocks {
            posterior.mean.extend(mean.into_iter().map(|mean| offset + scale * mean));
            posterior.variance.extend(variance.into_iter().map(|variance| scale * scale * variance));
        }
        posterior
    }

    /// A variance costs n^2 operations, a mean n.
    fn predict_mean(&self, x: MatRef<'_, f64>) -> Vec<f64> {
        let (offset, scale) = self.data.units;
        let mean = |rows: MatRef<'_, f64>| {
            transposed_times(&self.covariance.between(self.data.x.as_ref(), rows), &self.weights)
        };
        self.by_blocks(x, mean).concat().into_iter().map(|mean| offset + scale * mean).collect()
    }

    fn fantasise(&self, x: MatRef<'_, f64>) -> Box<dyn Surrogate> {
        let Data { x: known, y, units: (offset, scale) } = &self.data;
        let expected = self.predict_mean(x).into_iter().map(|mean| (mean - offset) / scale);
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
        let imagined = self.recondition(data);
        Box::new(imagined.unwrap_or_else(|_| self.clone()))
    }

    fn refit(&self, x: MatRef<'_, f64>, y: &[f64]) -> Option<Result<Box<dyn Surrogate>, Error>> {
        let again = self.recondition(Data::best(x, y, self.max_rows));
        Some(again.map(|gp| Box::new(gp) as Box<dyn Surrogate>))
    }
}
