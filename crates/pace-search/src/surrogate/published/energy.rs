//! The approximate-EP energy and its gradient, by hand.
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
//! The last line is the energy of the published code for a minibatch of b rows; log|K| and the constants cancel. Let D be
//! its derivative by C_c, with what flows through beta and the energy itself. As dC = c F dL^T + c dL F^T - C dK C - ...:
//!
//! ```text
//! Q = D F_c,   R = b c (F_1 - F_c) - 2 c C Q
//! dE/dL = 2 c Q + K R    dE/dK = R L^T / 2        and some outer products
//! ```

use faer::{Accum, Mat, MatRef};

use super::PublishedParameters;
use super::data::{DataSums, Predictor};
use crate::error::Error;
use crate::surrogate::dense::{self, add_scaled, dot, times, transposed_times};
use crate::surrogate::kernel::{Kernel, KernelGradient, Scaled};
use crate::surrogate::pool::Pool;
use crate::surrogate::predict::KernelPosterior;
use crate::surrogate::product::{FULL, LOWER, dense_product, parallel_product};

/// On the diagonal of Kzz, relative to s.
const JITTER: f64 = 1e-3;

/// The energy of a minibatch and its gradient.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedEnergy {
    /// E, which is maximised.
    pub value: f64,
    /// Its derivative by each parameter.
    pub gradient: PublishedParameters,
}

/// What follows from the parameters alone.
pub(super) struct State {
    pub(super) inverse_lengths: Vec<f64>,
    pub(super) inducing: Scaled,
    pub(super) variance: f64,
    pub(super) noise: f64,
    /// K [M, M] and dK/dr^2.
    covariance: Mat<f64>,
    slopes: Mat<f64>,
    /// T; lower triangle.
    inner: Mat<f64>,
    /// p = K m.
    covered: Vec<f64>,
}

/// B_c and what is computed from it.
pub(super) struct Side {
    log_det: f64,
    /// F_c = L B_c^-1 [M, M].
    solved: Mat<f64>,
}

impl State {
    pub(super) fn new(params: &PublishedParameters, pool: &Pool) -> State {
        let m = params.inducing.nrows();
        let inverse_lengths: Vec<f64> = params.log_squared_lengths.iter().map(|log| (-0.5 * log).exp()).collect();
        let (variance, noise) = (params.log_variance.exp(), params.log_noise.exp());
        let inducing = Scaled::new(params.inducing.as_ref(), 0..m, &inverse_lengths);
        let [mut covariance, mut slopes, mut half, mut inner] = [(); 4].map(|()| pool.take(m, m));
        inducing.own_covariance_and_slope(Kernel::Rbf, variance, &mut covariance, &mut slopes);
        (0..m).for_each(|j| covariance[(j, j)] = variance * (1.0 + JITTER));
        dense_product(&mut half, Accum::Replace, &covariance, &params.factor, 1.0);
        let factors = ((params.factor.transpose(), FULL), (half.as_ref(), FULL));
        parallel_product((inner.as_mut(), LOWER), Accum::Replace, factors.0, factors.1, 1.0);
        pool.give([half]);
        let covered = times(&covariance, &params.mean);
        State { inverse_lengths, inducing, variance, noise, covariance, slopes, inner, covered }
    }

    pub(super) fn side(&self, params: &PublishedParameters, c: f64, pool: &Pool) -> Result<Side, Error> {
        let size = self.inner.nrows();
        let mut factor = pool.take(size, size);
        for j in 0..size {
            let column = factor.col_as_slice_mut(j).iter_mut().zip(self.inner.col_as_slice(j));
            column.for_each(|(b, inner)| *b = c * inner);
            factor[(j, j)] += 1.0;
        }
        dense::cholesky(&mut factor).map_err(|pivot| {
            let what = "the precision of the inducing points";
            Error::NotPositiveDefinite { what, pivot, size, jitter: JITTER }
        })?;
        let log_det = dense::log_det(&factor);
        let [mut inverse_factor, mut inverse, mut solved] = [(); 3].map(|()| pool.take(size, size));
        dense::invert_lower(&mut inverse_factor, &factor);
        dense::gram_of_lower(&mut inverse, Accum::Replace, &inverse_factor, 1.0);
        dense::mirror(&mut inverse);
        dense_product(&mut solved, Accum::Replace, &params.factor, &inverse, 1.0);
        pool.give([factor, inverse_factor, inverse]);
        Ok(Side { log_det, solved })
    }

    /// beta and C_c.
    pub(super) fn predictor(
        &self,
        params: &PublishedParameters,
        c: f64,
        side: &Side,
        pool: &Pool,
    ) -> (Vec<f64>, Mat<f64>) {
        let m = self.inner.nrows();
        let mut shrink = pool.take(m, m);
        let factors = ((side.solved.as_ref(), FULL), (params.factor.transpose(), FULL));
        parallel_product((shrink.as_mut(), LOWER), Accum::Replace, factors.0, factors.1, c);
        dense::mirror(&mut shrink);
        let shrunk = times(&shrink, &self.covered);
        let weights = params.mean.iter().zip(&shrunk).map(|(m, shrunk)| c * (m - shrunk)).collect();
        (weights, shrink)
    }

    pub(super) fn into_posterior(self, weights: Vec<f64>, shrink: Mat<f64>) -> KernelPosterior {
        let State { inverse_lengths, inducing, variance, noise, .. } = self;
        KernelPosterior { kernel: Kernel::Rbf, inverse_lengths, variance, noise, inducing, weights, shrink }
    }
}

/// The energy of rows x [b, D] and y [b] out of n.
pub(super) fn energy(
    params: &PublishedParameters,
    x: MatRef<'_, f64>,
    y: &[f64],
    n: usize,
    pool: &Pool,
) -> Result<PublishedEnergy, Error> {
    let c = (n as f64 - 1.0) / n as f64;
    let state = State::new(params, pool);
    let (cavity, posterior) = rayon::join(|| state.side(params, c, pool), || state.side(params, 1.0, pool));
    let (cavity, posterior) = (cavity?, posterior?);
    let (weights, shrink) = state.predictor(params, c, &cavity, pool);
    let data = Predictor {
        inducing: &state.inducing,
        inverse_lengths: &state.inverse_lengths,
        variance: state.variance,
        noise: state.noise,
        weights: &weights,
        shrink: &shrink,
    }
    .sums(x, y, pool);
    Ok(gradient(params, y.len() as f64, c, state, [cavity, posterior], shrink, data, pool))
}

#[allow(clippy::too_many_arguments)]
fn gradient(
    params: &PublishedParameters,
    b: f64,
    c: f64,
    state: State,
    [cavity, posterior]: [Side; 2],
    shrink: Mat<f64>,
    mut data: DataSums,
    pool: &Pool,
) -> PublishedEnergy {
    let m = shrink.nrows();
    let (mean, p) = (&params.mean, &state.covered);
    // C_c p, C_1 p and F_1^T p.
    let shrunk = times(&shrink, p);
    let full_shrunk = times(&posterior.solved, &transposed_times(&params.factor, p));
    let solved_p = transposed_times(&posterior.solved, p);
    let (prior, cavity_fit, fit) = (dot(mean, p), dot(p, &shrunk), dot(p, &full_shrunk));
    let value = data.log_density
        + 0.5 * b * (c * c * (prior - cavity_fit) - cavity.log_det - c * (prior - fit) + c * posterior.log_det);

    // D: by C_c, directly, through beta and through the energy.
    for j in 0..m {
        let column = &mut data.by_shrink.col_as_slice_mut(j)[j..];
        add_scaled(column, -0.5 * c * p[j], &data.by_weights[j..]);
        add_scaled(column, -0.5 * c * data.by_weights[j] - 0.5 * b * c * c * p[j], &p[j..]);
    }
    dense::mirror(&mut data.by_shrink);
    let [mut q, mut r] = [(); 2].map(|()| pool.take(m, m));
    dense_product(&mut q, Accum::Replace, &data.by_shrink, &cavity.solved, 1.0);
    for j in 0..m {
        let sides = posterior.solved.col_as_slice(j).iter().zip(cavity.solved.col_as_slice(j));
        r.col_as_slice_mut(j).iter_mut().zip(sides).for_each(|(r, (full, part))| *r = b * c * (full - part));
    }
    dense_product(&mut r, Accum::Add, &shrink, &q, -2.0 * c);
    let mut by_factor = pool.take(m, m);
    dense_product(&mut by_factor, Accum::Replace, &state.covariance, &r, 1.0);
    let covered_shrunk = times(&state.covariance, &full_shrunk);
    let outer: Vec<f64> = p.iter().zip(&covered_shrunk).map(|(p, covered)| b * c * (p - covered)).collect();
    for j in 0..m {
        let column = by_factor.col_as_slice_mut(j);
        add_scaled(column, 2.0 * c, q.col_as_slice(j));
        add_scaled(column, solved_p[j], &outer);
    }

    let by_p_data = times(&shrink, &data.by_weights);
    let by_p: Vec<f64> = (0..m)
        .map(|j| {
            let (part, full) = (mean[j] - 2.0 * shrunk[j], mean[j] - 2.0 * full_shrunk[j]);
            -c * by_p_data[j] + 0.5 * b * c * (c * part - full)
        })
        .collect();
    let mut by_mean = times(&state.covariance, &by_p);
    add_scaled(&mut by_mean, c, &data.by_weights);
    add_scaled(&mut by_mean, 0.5 * b * c * (c - 1.0), p);

    // q is free again: dE/dK.
    let factors = ((r.as_ref(), FULL), (params.factor.transpose(), FULL));
    parallel_product((q.as_mut(), LOWER), Accum::Replace, factors.0, factors.1, 0.5);
    for j in 0..m {
        let column = &mut q.col_as_slice_mut(j)[j..];
        add_scaled(column, 0.5 * mean[j], &by_p[j..]);
        add_scaled(column, 0.5 * by_p[j], &mean[j..]);
        add_scaled(column, -0.5 * b * c * full_shrunk[j], &full_shrunk[j..]);
    }
    dense::mirror(&mut q);
    let n_dims = state.inverse_lengths.len();
    let mut by_self = KernelGradient::zeros(m, n_dims);
    by_self.add(q.as_mut(), state.covariance.as_ref(), state.slopes.as_ref(), &state.inducing);
    let (mut log_lengths, mut inducing) = (vec![0.0; n_dims], Mat::zeros(m, n_dims));
    for (part, times) in [(&by_self, 2.0), (&data.by_cross, 1.0)] {
        part.finish(&state.inducing, &state.inverse_lengths, times, &mut log_lengths, inducing.as_mut());
    }
    let log_variance = by_self.log_variance() + data.by_cross.log_variance() + state.variance * data.by_variance;
    let State { covariance, slopes, inner, .. } = state;
    pool.give([q, r, covariance, slopes, inner, cavity.solved, posterior.solved, shrink, data.by_shrink]);
    let gradient = PublishedParameters {
        log_squared_lengths: log_lengths.iter().map(|by_length| 0.5 * by_length).collect(),
        log_variance,
        log_noise: state.noise * data.by_noise,
        inducing,
        mean: by_mean,
        factor: by_factor,
    };
    PublishedEnergy { value, gradient }
}
