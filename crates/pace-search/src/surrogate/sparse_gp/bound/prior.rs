//! [`Prior`]: the inducing points before any data.

use std::ops::Range;

use faer::{Mat, MatMut, MatRef};

use super::{Hyperparameters, Solved};
use crate::error::Error;
use crate::gp::KernelPosterior;
use crate::gp::kernel::{Kernel, KernelGradient, MapGradient, Scaled};
use crate::numerics::dense;
use crate::numerics::scratch::Scratch;

/// With more jitter the model would be a different one.
const MAX_JITTER: f64 = 1e-2;

/// Kmm = L L^T with some hyperparameters.
#[derive(Clone, Debug)]
pub(crate) struct Prior {
    pub(crate) kernel: Kernel,
    /// A [K, D]
    map: Option<Mat<f64>>,
    pub(crate) inverse_lengths: Vec<f64>,
    /// s
    pub(crate) variance: f64,
    /// v
    pub(crate) noise: f64,
    pub(crate) inducing: Scaled,
    /// Kmm with jitter [M, M].
    covariance: Mat<f64>,
    /// dKmm/dr^2 [M, M].
    slopes: Mat<f64>,
    /// L^-1 [M, M].
    pub(crate) inverse_factor: Mat<f64>,
}

/// Derivatives of a bound, from which those by the hyperparameters follow.
pub(super) struct Sums {
    /// By Kmm, full.
    pub(super) by_prior: Mat<f64>,
    /// By Knm, already multiplied by the slopes.
    pub(super) by_cross: KernelGradient,
    /// By the map, already multiplied by the slopes.
    pub(super) by_map: Option<MapGradient>,
    /// By the prior variance, summed over rows.
    pub(super) by_diagonal: f64,
    /// By the noise variance.
    pub(super) by_noise: f64,
}

impl Prior {
    pub(crate) fn new(kernel: Kernel, hyper: &Hyperparameters, jitter: f64, scratch: &Scratch) -> Result<Prior, Error> {
        let inverse_lengths: Vec<f64> = hyper.log_lengths.iter().map(|log| (-log).exp()).collect();
        let (variance, noise) = (hyper.log_variance.exp(), hyper.log_noise.exp());
        let n = hyper.inducing.nrows();
        let inducing = Scaled::new(hyper.inducing.as_ref(), 0..n, &inverse_lengths);
        let [mut covariance, mut slopes, mut inverse_factor] = [(); 3].map(|()| scratch.take(n, n));
        inducing.own_covariance_and_slope(kernel, variance, &mut covariance, &mut slopes);
        let factor = factor(&mut covariance, variance, jitter, scratch)?;
        dense::invert_lower(&mut inverse_factor, &factor);
        scratch.give([factor]);
        let map = hyper.map.clone();
        Ok(Prior { kernel, map, inverse_lengths, variance, noise, inducing, covariance, slopes, inverse_factor })
    }

    pub(crate) fn n_inducing(&self) -> usize {
        self.inducing.len()
    }

    /// Rows of x [N, D], mapped and in units of the length-scales.
    pub(crate) fn points(&self, x: MatRef<'_, f64>, rows: Range<usize>) -> Scaled {
        Scaled::mapped(x, rows, self.map.as_ref(), &self.inverse_lengths)
    }

    pub(super) fn map_gradient(&self) -> Option<MapGradient> {
        self.map.as_ref().map(|map| MapGradient::zeros(self.n_inducing(), map.nrows(), map.ncols()))
    }

    /// Covariances of the inducing points with others [M, n].
    pub(crate) fn cross(&self, points: &Scaled, dst: MatMut<'_, f64>) {
        self.inducing.covariance(points, self.kernel, self.variance, dst);
    }

    /// The posterior given data.
    pub(crate) fn with(self, solved: Solved) -> KernelPosterior {
        let Prior { kernel, map, inverse_lengths, variance, noise, inducing, .. } = self;
        let Solved { beta: weights, shrink, .. } = solved;
        KernelPosterior { kernel, map, inverse_lengths, variance, noise, inducing, weights, shrink, fantasies: None }
    }

    pub(super) fn recycle(self, scratch: &Scratch) {
        scratch.give([self.covariance, self.slopes, self.inverse_factor]);
    }

    pub(super) fn gradient(&self, sums: Sums, scratch: &Scratch) -> Hyperparameters {
        let (n_inducing, n_dims) = (self.n_inducing(), self.inverse_lengths.len());
        let mut by_self = KernelGradient::zeros(n_inducing, n_dims);
        let mut by_prior = sums.by_prior;
        let inputs = (self.covariance.as_ref(), self.slopes.as_ref());
        by_self.add(by_prior.as_mut(), inputs.0, inputs.1, &self.inducing);
        scratch.give([by_prior]);
        let mut log_lengths = vec![0.0; n_dims];
        let mut inducing = Mat::zeros(n_inducing, n_dims);
        for (part, times) in [(&by_self, 2.0), (&sums.by_cross, 1.0)] {
            part.finish(&self.inducing, &self.inverse_lengths, times, &mut log_lengths, inducing.as_mut());
        }
        let log_variance = by_self.log_variance() + sums.by_cross.log_variance() + self.variance * sums.by_diagonal;
        let map = sums.by_map.map(|part| part.finish(&self.inducing, &self.inverse_lengths));
        Hyperparameters { map, log_lengths, log_variance, log_noise: self.noise * sums.by_noise, inducing }
    }
}

/// L of the covariance, to whose diagonal the smallest jitter is added that allows a factorisation.
fn factor(covariance: &mut Mat<f64>, variance: f64, jitter: f64, scratch: &Scratch) -> Result<Mat<f64>, Error> {
    let size = covariance.nrows();
    let mut next = jitter;
    loop {
        // The distance of a point to itself is zero; rounding may say otherwise.
        (0..size).for_each(|i| covariance[(i, i)] = variance * (1.0 + next));
        let mut factor = scratch.take(size, size);
        factor.copy_from(&*covariance);
        match dense::cholesky(&mut factor) {
            Ok(()) => return Ok(factor),
            Err(pivot) if next >= MAX_JITTER || !variance.is_finite() => {
                let what = "the covariance of the inducing points";
                return Err(Error::NotPositiveDefinite { what, pivot, size, jitter: next });
            }
            Err(_) => next = (10.0 * next).max(1e-10),
        }
    }
}

#[cfg(test)]
mod tests {
    use faer::Accum;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::numerics::product::dense_product;
    use crate::surrogate::sparse_gp::bound::{Bound, Problem};

    fn n_subnormal(matrix: &Mat<f64>) -> usize {
        matrix.col_iter().flat_map(|column| column.iter()).filter(|value| value.is_subnormal()).count()
    }

    #[test]
    fn short_length_scales_make_no_subnormal_numbers() {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let x = Mat::from_fn(1000, 2, |_, _| rng.random::<f64>());
        let y: Vec<f64> = (0..1000).map(|_| rng.random::<f64>() - 0.5).collect();
        let scratch = Scratch::default();
        for kernel in [Kernel::Rbf, Kernel::Matern52] {
            for length in [0.1_f64, 0.03, 0.02, 0.01, 0.003, 0.001] {
                let (inducing, log_lengths) = (x.subrows(0, 300).to_owned(), vec![length.ln(); 2]);
                let hyper = Hyperparameters { map: None, log_lengths, log_variance: 0.0, log_noise: -2.0, inducing };
                let prior = Prior::new(kernel, &hyper, 1e-6, &scratch).unwrap();
                let [mut cross, mut white] = [(); 2].map(|()| Mat::zeros(300, 1000));
                prior.cross(&prior.points(x.as_ref(), 0..1000), cross.as_mut());
                let n_zeros = cross.col_iter().flat_map(|column| column.iter()).filter(|&&k| k == 0.0).count();
                assert!(length > 0.003 || n_zeros > 200_000, "{n_zeros} of 300,000 are 0");
                assert_eq!([&prior.covariance, &prior.slopes, &cross].map(n_subnormal), [0; 3], "{kernel:?} {length}");
                if length != 0.02 {
                    // Products of many covariances may still be, but few are: a hundredth at the worst of these.
                    continue;
                }
                dense_product(&mut white, Accum::Replace, &prior.inverse_factor, &cross, 1.0);
                assert_eq!([&prior.inverse_factor, &white].map(n_subnormal), [0; 2], "{kernel:?}");
                for bound in [Bound::Vfe, Bound::Fitc] {
                    let problem = Problem { kernel, jitter: 1e-6, x: x.as_ref(), y: &y, scratch: &scratch };
                    let (_, solved) = bound.solve(problem, &hyper).unwrap();
                    let gradient = bound.gradient(problem, &hyper).unwrap().gradient;
                    assert_eq!([&solved.shrink, &gradient.inducing].map(n_subnormal), [0; 2], "{bound:?} {kernel:?}");
                }
            }
        }
    }
}
