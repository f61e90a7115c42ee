//! The part of the energy that depends on data: log densities of a minibatch and their derivatives.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use crate::gp::kernel::{Kernel, KernelGradient, Scaled};
use crate::numerics::dense::{add_scaled, dot};
use crate::numerics::product::{FULL, LOWER, product};
use crate::numerics::scratch::Scratch;
use crate::numerics::shards::{BLOCK, sum_over_rows};

/// The parameters of a prediction: mean k^T beta, variance |s - k^T C k| + v.
pub(super) struct Predictor<'a> {
    pub(super) inducing: &'a Scaled,
    pub(super) inverse_lengths: &'a [f64],
    /// s
    pub(super) variance: f64,
    /// v
    pub(super) noise: f64,
    /// beta [M]
    pub(super) weights: &'a [f64],
    /// C [M, M]
    pub(super) shrink: &'a Mat<f64>,
}

/// Sums over rows. g_i and h_i are the derivatives by the mean and by s - k^T C k.
pub(super) struct DataSums {
    /// sum log N(y_i; mean_i, variance_i)
    pub(super) log_density: f64,
    /// By beta: sum g_i k_i.
    pub(super) by_weights: Vec<f64>,
    /// By C: -sum h_i k_i k_i^T; lower triangle.
    pub(super) by_shrink: Mat<f64>,
    /// By k_i: g_i beta - 2 h_i C k_i, already multiplied by the slopes.
    pub(super) by_cross: KernelGradient,
    /// By s, not through k_i: sum h_i.
    pub(super) by_variance: f64,
    /// By v.
    pub(super) by_noise: f64,
}

impl Predictor<'_> {
    pub(super) fn sums(&self, x: MatRef<'_, f64>, y: &[f64], scratch: &Scratch) -> DataSums {
        let m = self.inducing.len();
        let zero = || DataSums {
            log_density: 0.0,
            by_weights: vec![0.0; m],
            by_shrink: scratch.zeros(m, m),
            by_cross: KernelGradient::zeros(m, self.inverse_lengths.len()),
            by_variance: 0.0,
            by_noise: 0.0,
        };
        let add = |sums: &mut DataSums, rows: Range<usize>| self.add(sums, x, y, rows, scratch);
        sum_over_rows(y.len(), zero, add, |total, part| {
            total.log_density += part.log_density;
            add_scaled(&mut total.by_weights, 1.0, &part.by_weights);
            total.by_shrink += &part.by_shrink;
            scratch.give([part.by_shrink]);
            total.by_cross.merge(&part.by_cross);
            total.by_variance += part.by_variance;
            total.by_noise += part.by_noise;
        })
    }

    fn add(&self, sums: &mut DataSums, x: MatRef<'_, f64>, y: &[f64], rows: Range<usize>, scratch: &Scratch) {
        let (m, n) = (self.inducing.len(), rows.len());
        let points = Scaled::new(x, rows.clone(), self.inverse_lengths);
        let [mut values, mut slopes, mut shrunk, mut scaled] = [(); 4].map(|()| scratch.take(m, BLOCK));
        let outputs = (values.subcols_mut(0, n), slopes.subcols_mut(0, n));
        self.inducing.covariance_and_slope(&points, Kernel::Rbf, self.variance, outputs.0, outputs.1);
        matmul(shrunk.subcols_mut(0, n), Accum::Replace, self.shrink, values.subcols(0, n), 1.0, Par::Seq);
        for (i, &y) in y[rows].iter().enumerate() {
            let (k, shrunk) = (values.col_as_slice(i), shrunk.col_as_slice_mut(i));
            let latent = self.variance - dot(k, shrunk);
            let variance = latent.abs() + self.noise;
            let residual = y - dot(k, self.weights);
            sums.log_density -= 0.5 * ((2.0 * std::f64::consts::PI * variance).ln() + residual * residual / variance);
            let by_mean = residual / variance;
            let by_variance = 0.5 * (residual * residual / variance - 1.0) / variance;
            let by_latent = by_variance * latent.signum();
            sums.by_noise += by_variance;
            sums.by_variance += by_latent;
            add_scaled(&mut sums.by_weights, by_mean, k);
            let scaled = scaled.col_as_slice_mut(i);
            for ((shrunk, scaled), (k, weight)) in shrunk.iter_mut().zip(scaled).zip(k.iter().zip(self.weights)) {
                *shrunk = by_mean * weight - 2.0 * by_latent * *shrunk;
                *scaled = -by_latent * k;
            }
        }
        let left = (scaled.subcols(0, n), FULL);
        let right = (values.subcols(0, n).transpose(), FULL);
        product((sums.by_shrink.as_mut(), LOWER), Accum::Add, left, right, 1.0);
        let inputs = (values.subcols(0, n), slopes.subcols(0, n));
        sums.by_cross.add(shrunk.subcols_mut(0, n), inputs.0, inputs.1, &points);
        scratch.give([values, slopes, shrunk, scaled]);
    }
}
