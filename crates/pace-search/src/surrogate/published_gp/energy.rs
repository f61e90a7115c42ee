//! The approximate-EP energy and its gradient.
//!
//! With K = Kzz, c = (n - 1) / n in training and 1 in prediction, the published code computes with the precision
//! K^-1 + c L L^T. By Woodbury neither K^-1 nor its factor is needed:
//!
//! ```text
//! T = L^T K L                        B_c = I + c T       no eigenvalue below 1
//! F_c = L B_c^-1                     C_c = c F_c L^T
//! mean at x: k^T beta,               beta = c (m - C_c p),  p = K m
//! variance:  |s - k^T C_c k| + v
//!
//! E = b/2 [ c^2 (m^T p - p^T C_c p) - log|B_c| - c (m^T p - p^T C_1 p) + c log|B_1| ] + sum_i log N(y_i)
//! ```
//!
//! The last line is the energy of the published code for a minibatch of b rows. log|K| and the constants cancel. Let D be its
//! derivative by C_c, including those through beta and through the first terms:
//!
//! ```text
//! Q = D F_c,   R = b c (F_1 - F_c) - 2 c C Q
//! dE/dL = 2 c Q + K R    dE/dK = R L^T / 2        and some outer products
//! ```

use faer::{Accum, Mat, MatRef};

use super::PublishedParameters;
use super::data::{DataSums, Predictor};
use super::state::{Side, State};
use crate::error::Error;
use crate::gp::kernel::KernelGradient;
use crate::numerics::dense::{self, add_scaled, dot, times, transposed_times};
use crate::numerics::product::{FULL, LOWER, dense_product, parallel_product};
use crate::numerics::scratch::Scratch;

/// The energy of a minibatch and its gradient.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedEnergy {
    /// E, which is maximised.
    pub value: f64,
    /// Its derivative by each parameter.
    pub gradient: PublishedParameters,
}

/// The results of the forward pass that the gradient needs.
struct Pass<'a> {
    params: &'a PublishedParameters,
    scratch: &'a Scratch,
    b: f64,
    c: f64,
    state: State,
    cavity: Side,
    posterior: Side,
    /// C_c
    shrink: Mat<f64>,
    data: DataSums,
    /// C_c p
    shrunk: Vec<f64>,
    /// C_1 p
    full_shrunk: Vec<f64>,
}

/// The energy of the rows x [b, D] and y [b] of a dataset of n rows.
pub(super) fn energy(
    params: &PublishedParameters,
    x: MatRef<'_, f64>,
    y: &[f64],
    n: usize,
    scratch: &Scratch,
) -> Result<PublishedEnergy, Error> {
    let c = (n as f64 - 1.0) / n as f64;
    let state = State::new(params, scratch);
    let (cavity, posterior) = rayon::join(|| state.side(params, c, scratch), || state.side(params, 1.0, scratch));
    let (cavity, posterior) = (cavity?, posterior?);
    let (weights, shrink) = state.predictor(params, c, &cavity, scratch);
    let data = Predictor {
        inducing: &state.inducing,
        inverse_lengths: &state.inverse_lengths,
        variance: state.variance,
        noise: state.noise,
        weights: &weights,
        shrink: &shrink,
    }
    .sums(x, y, scratch);
    let shrunk = times(&shrink, &state.covered);
    let full_shrunk = times(&posterior.solved, &transposed_times(&params.factor, &state.covered));
    let b = y.len() as f64;
    let pass = Pass { params, scratch, b, c, state, cavity, posterior, shrink, data, shrunk, full_shrunk };
    let value = pass.value();
    Ok(PublishedEnergy { value, gradient: pass.gradient() })
}

impl Pass<'_> {
    fn value(&self) -> f64 {
        let (c, p) = (self.c, &self.state.covered);
        let (prior, part, full) = (dot(&self.params.mean, p), dot(p, &self.shrunk), dot(p, &self.full_shrunk));
        let squares = c * c * (prior - part) - c * (prior - full);
        let log_dets = c * self.posterior.log_det - self.cavity.log_det;
        self.data.log_density + 0.5 * self.b * (squares + log_dets)
    }

    fn gradient(mut self) -> PublishedParameters {
        self.complete_by_shrink();
        let by_p = self.by_covered();
        let (q, r) = self.q_and_r();
        let factor = self.by_factor(&q, &r);
        let mean = self.by_mean(&by_p);
        let by_covariance = self.by_covariance(&by_p, &r, q);
        self.scratch.give([r]);
        self.finish(by_covariance, mean, factor)
    }

    /// D: the derivative by C_c, through the data, through beta and through the first terms.
    fn complete_by_shrink(&mut self) {
        let (b, c, p) = (self.b, self.c, &self.state.covered);
        for (j, (&p_j, &weight_j)) in p.iter().zip(&self.data.by_weights).enumerate() {
            let column = &mut self.data.by_shrink.col_as_slice_mut(j)[j..];
            add_scaled(column, -0.5 * c * p_j, &self.data.by_weights[j..]);
            add_scaled(column, -0.5 * c * weight_j - 0.5 * b * c * c * p_j, &p[j..]);
        }
        dense::mirror(&mut self.data.by_shrink);
    }

    fn q_and_r(&self) -> (Mat<f64>, Mat<f64>) {
        let (b, c, m) = (self.b, self.c, self.shrink.nrows());
        let [mut q, mut r] = [(); 2].map(|()| self.scratch.take(m, m));
        dense_product(&mut q, Accum::Replace, &self.data.by_shrink, &self.cavity.solved, 1.0);
        for j in 0..m {
            let sides = self.posterior.solved.col_as_slice(j).iter().zip(self.cavity.solved.col_as_slice(j));
            r.col_as_slice_mut(j).iter_mut().zip(sides).for_each(|(r, (full, part))| *r = b * c * (full - part));
        }
        dense_product(&mut r, Accum::Add, &self.shrink, &q, -2.0 * c);
        (q, r)
    }

    /// dE/dL = 2 c Q + K R + b c (p - K C_1 p) (F_1^T p)^T.
    fn by_factor(&self, q: &Mat<f64>, r: &Mat<f64>) -> Mat<f64> {
        let (m, p) = (self.shrink.nrows(), &self.state.covered);
        let mut by_factor = self.scratch.take(m, m);
        dense_product(&mut by_factor, Accum::Replace, &self.state.covariance, r, 1.0);
        let covered_shrunk = times(&self.state.covariance, &self.full_shrunk);
        let left: Vec<f64> =
            p.iter().zip(&covered_shrunk).map(|(p, covered)| self.b * self.c * (p - covered)).collect();
        for (j, right) in transposed_times(&self.posterior.solved, p).into_iter().enumerate() {
            let column = by_factor.col_as_slice_mut(j);
            add_scaled(column, 2.0 * self.c, q.col_as_slice(j));
            add_scaled(column, right, &left);
        }
        by_factor
    }

    /// dE/dp, not through K.
    fn by_covered(&self) -> Vec<f64> {
        let (b, c) = (self.b, self.c);
        let by_data = times(&self.shrink, &self.data.by_weights);
        let rest = self.params.mean.iter().zip(self.shrunk.iter().zip(&self.full_shrunk));
        let energy = rest.map(|(m, (part, full))| 0.5 * b * c * (c * (m - 2.0 * part) - (m - 2.0 * full)));
        by_data.iter().zip(energy).map(|(by_data, energy)| energy - c * by_data).collect()
    }

    fn by_mean(&self, by_p: &[f64]) -> Vec<f64> {
        let mut by_mean = times(&self.state.covariance, by_p);
        add_scaled(&mut by_mean, self.c, &self.data.by_weights);
        add_scaled(&mut by_mean, 0.5 * self.b * self.c * (self.c - 1.0), &self.state.covered);
        by_mean
    }

    /// dE/dK = R L^T / 2 + (dE/dp m^T + m dE/dp^T) / 2 - b c / 2 C_1 p p^T C_1, in the memory of q.
    fn by_covariance(&self, by_p: &[f64], r: &Mat<f64>, mut q: Mat<f64>) -> Mat<f64> {
        let (mean, full) = (&self.params.mean, &self.full_shrunk);
        let factors = ((r.as_ref(), FULL), (self.params.factor.transpose(), FULL));
        parallel_product((q.as_mut(), LOWER), Accum::Replace, factors.0, factors.1, 0.5);
        for j in 0..mean.len() {
            let column = &mut q.col_as_slice_mut(j)[j..];
            add_scaled(column, 0.5 * mean[j], &by_p[j..]);
            add_scaled(column, 0.5 * by_p[j], &mean[j..]);
            add_scaled(column, -0.5 * self.b * self.c * full[j], &full[j..]);
        }
        dense::mirror(&mut q);
        q
    }

    fn finish(self, mut by_covariance: Mat<f64>, mean: Vec<f64>, factor: Mat<f64>) -> PublishedParameters {
        let Pass { state, data, scratch, .. } = self;
        let (m, n_dims) = (mean.len(), state.inverse_lengths.len());
        let mut by_self = KernelGradient::zeros(m, n_dims);
        by_self.add(by_covariance.as_mut(), state.covariance.as_ref(), state.slopes.as_ref(), &state.inducing);
        let (mut by_lengths, mut inducing) = (vec![0.0; n_dims], Mat::zeros(m, n_dims));
        for (part, times) in [(&by_self, 2.0), (&data.by_cross, 1.0)] {
            part.finish(&state.inducing, &state.inverse_lengths, times, &mut by_lengths, inducing.as_mut());
        }
        let log_variance = by_self.log_variance() + data.by_cross.log_variance() + state.variance * data.by_variance;
        scratch.give([state.covariance, state.slopes, state.inner, by_covariance, data.by_shrink]);
        scratch.give([self.cavity.solved, self.posterior.solved, self.shrink]);
        PublishedParameters {
            // The parameter is the logarithm of a square.
            log_squared_lengths: by_lengths.iter().map(|by_length| 0.5 * by_length).collect(),
            log_variance,
            log_noise: state.noise * data.by_noise,
            inducing,
            mean,
            factor,
        }
    }
}
