//! The evidence of a covariance, with its derivatives.

use faer::{Accum, Mat, MatRef};

use super::covariance::Covariance;
use super::solved::Solved;
use crate::error::Error;
use crate::gp::kernel::{Kernel, Scaled};
use crate::numerics::dense::{dot, gram_of_lower, log_det, mirror};

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
        let Solved { lower, inverse_lower, weights: alpha } = Solved::new(k, noise, self.y)?;
        let value = -0.5 * dot(self.y, &alpha) - 0.5 * log_det(&lower) - 0.5 * n as f64 * std::f64::consts::TAU.ln();
        // a a^T - K^-1, in the memory of the factor.
        let mut weights = lower;
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

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    use super::*;
    use crate::surrogate::AdditiveGpConfig;

    #[test]
    fn the_gradient_is_that_of_central_differences() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        // The last node never varies, and has no term.
        let x = Mat::from_fn(25, 8, |_, d| if d < 6 { normal() } else { 3.0 });
        let y: Vec<f64> = (0..25).map(|i| x[(i, 0)].sin() + x[(i, 2)] * x[(i, 3)] + 0.1 * normal()).collect();
        for kernel in [Kernel::Rbf, Kernel::Matern52] {
            let config = AdditiveGpConfig { kernel, ..AdditiveGpConfig::new(2) };
            let start = Covariance::start(&config, x.as_ref());
            assert_eq!(start.terms, [0..8, 0..2, 2..4, 4..6]);
            let rows = Rows::new(&start, x.as_ref(), &y);
            let packed: Vec<f64> = start.pack().iter().map(|at| at + 0.3 * normal()).collect();
            let value = |packed: &[f64]| rows.evidence(&start.unpack(packed)).unwrap();
            let (_, gradient) = value(&packed);
            assert_eq!(gradient.len(), packed.len());
            for (index, ours) in gradient.into_iter().enumerate() {
                let moved = |by: f64| {
                    let mut packed = packed.clone();
                    packed[index] += by;
                    value(&packed).0
                };
                let numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!(
                    (ours - numeric).abs() < 1e-5 * numeric.abs().max(1.0),
                    "{kernel:?} {index}: {ours}, {numeric}"
                );
            }
        }
    }

    #[test]
    fn the_evidence_is_the_log_density_of_the_scores() {
        // Two rows: everything can be written out.
        let x = Mat::from_fn(2, 2, |i, d| [[0.0, 1.0], [2.0, -1.0]][i][d]);
        let y = [0.7, -1.2];
        let terms = vec![0..2, 0..1, 1..2];
        let (log_lengths, log_variances) = (vec![0.5, 0.1, -0.2], vec![-1.0, 0.2, -0.4]);
        let covariance = Covariance { kernel: Kernel::Rbf, terms, log_lengths, log_variances, log_noise: -3.0 };
        let noise = (-3.0_f64).exp();
        let term = |log_variance: f64, r2: f64, log_length: f64| {
            log_variance.exp() * (-0.5 * r2 / (2.0 * log_length).exp()).exp()
        };
        let a = (-1.0_f64).exp() + 0.2_f64.exp() + (-0.4_f64).exp() + noise;
        let b = term(-1.0, 8.0, 0.5) + term(0.2, 4.0, 0.1) + term(-0.4, 4.0, -0.2);
        let determinant = a * a - b * b;
        let square = (a * (y[0] * y[0] + y[1] * y[1]) - 2.0 * b * y[0] * y[1]) / determinant;
        let wanted = -0.5 * square - 0.5 * determinant.ln() - std::f64::consts::TAU.ln();
        let (ours, _) = Rows::new(&covariance, x.as_ref(), &y).evidence(&covariance).unwrap();
        assert!((ours - wanted).abs() < 1e-12, "{ours} where {wanted} is expected");
    }
}
