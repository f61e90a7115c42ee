//! The evidence of a covariance, with its derivatives.

use faer::{Accum, Mat, MatRef};

use super::covariance::Covariance;
use crate::error::Error;
use crate::gp::kernel::{Kernel, Scaled};
use crate::numerics::dense::{cholesky, dot, gram_of_lower, invert_lower, log_det, mirror, times, transposed_times};

/// The rows that hyperparameters are learnt on, with the squared distances [n, n] of each term.
pub(super) struct Rows<'a> {
    distances: Vec<Mat<f64>>,
    y: &'a [f64],
}

impl<'a> Rows<'a> {
    pub(super) fn new(covariance: &Covariance, x: MatRef<'_, f64>, y: &'a [f64]) -> Rows<'a> {
        let distances = covariance.terms.iter().map(|columns| {
            let part = Scaled::new(x.subcols(columns.start, columns.len()), 0..x.nrows(), &vec![1.0; columns.len()]);
            part.own_squared_distances()
        });
        Rows { distances: distances.collect(), y }
    }

    /// log p(y) and its derivatives by the packed hyperparameters.
    ///
    /// ```text
    /// log p(y) = -1/2 y^T K^-1 y - 1/2 log |K| - n/2 log 2 pi
    /// d log p(y) / dt = 1/2 tr((a a^T - K^-1) dK/dt),  a = K^-1 y
    /// ```
    pub(super) fn evidence(&self, covariance: &Covariance) -> Result<(f64, Vec<f64>), Error> {
        let (n, n_terms) = (self.y.len(), covariance.terms.len());
        let (mut k, mut values, mut by_length) = (Mat::zeros(n, n), Vec::new(), Vec::new());
        for (term, distances) in self.distances.iter().enumerate() {
            let (value, slope) = term_of(covariance.kernel, covariance, term, distances);
            k += &value;
            values.push(value);
            by_length.push(slope);
        }
        let noise = covariance.log_noise.exp();
        (0..n).for_each(|i| k[(i, i)] += noise);
        cholesky(&mut k).map_err(|pivot| Error::NotPositiveDefinite {
            what: "the covariance",
            pivot,
            size: n,
            jitter: noise,
        })?;
        let mut inverse_lower = Mat::zeros(n, n);
        invert_lower(&mut inverse_lower, &k);
        let alpha = transposed_times(&inverse_lower, &times(&inverse_lower, self.y));
        let value = -0.5 * dot(self.y, &alpha) - 0.5 * log_det(&k) - 0.5 * n as f64 * std::f64::consts::TAU.ln();
        // a a^T - K^-1, in the memory of the factor.
        let mut weights = k;
        gram_of_lower(&mut weights, Accum::Replace, &inverse_lower, -1.0);
        mirror(&mut weights);
        for j in 0..n {
            let scale = alpha[j];
            weights.col_as_slice_mut(j).iter_mut().zip(&alpha).for_each(|(w, a)| *w += scale * a);
        }
        let trace = |by: &Mat<f64>| -> f64 {
            0.5 * (0..n).map(|j| dot(weights.col_as_slice(j), by.col_as_slice(j))).sum::<f64>()
        };
        let mut gradient: Vec<f64> = by_length.iter().map(trace).collect();
        gradient.extend(values.iter().map(trace));
        gradient.push(0.5 * noise * (0..n).map(|i| weights[(i, i)]).sum::<f64>());
        debug_assert_eq!(gradient.len(), 2 * n_terms + 1);
        Ok((value, gradient))
    }
}

/// The covariances of a term, and their derivatives by the logarithm of its length-scale: dk/dlog l = -2 r^2 dk/dr^2.
fn term_of(kernel: Kernel, covariance: &Covariance, term: usize, distances: &Mat<f64>) -> (Mat<f64>, Mat<f64>) {
    let n = distances.nrows();
    let (inverse, variance) = ((-2.0 * covariance.log_lengths[term]).exp(), covariance.log_variances[term].exp());
    let (mut values, mut slopes) = (distances * faer::Scale(inverse), Mat::zeros(n, n));
    for j in 0..n {
        let (values, slopes) = (values.col_as_slice_mut(j), slopes.col_as_slice_mut(j));
        kernel.values_and_slopes(variance, values, slopes);
        slopes.iter_mut().zip(distances.col_as_slice(j)).for_each(|(slope, r2)| *slope *= -2.0 * inverse * r2);
    }
    (values, slopes)
}
