//! [`PublishedGp`]: the sparse Gaussian process of the published results, for comparison.
//!
//! It is FITC with an explicit Gaussian over the inducing points. Adam maximises an approximate-EP energy (Bui,
//! Hernandez-Lobato, Li, Hernandez-Lobato & Turner 2016). The parameters of its kernel are *squared* length-scales:
//! k = s exp(-sum_d (x_d - z_d)^2 / 2 l_d).

use faer::{Mat, MatRef};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use super::{Posterior, PosteriorGradient, Progress, Report, Surrogate, SurrogateSettings};
use crate::check::check_data;
use crate::error::Error;
use crate::gp::{KernelPosterior, gradient, median_of_pairs, predict};
use crate::numerics::rows::{gather, sample_rows};
use crate::numerics::scratch::Scratch;
use adam::Adam;
use energy::energy;
use state::State;

mod adam;
mod data;
mod energy;
mod state;

pub use energy::PublishedEnergy;

/// How to fit a [`PublishedGp`]; the default is the published protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedGpConfig {
    /// M, the number of inducing points; at most the number of rows.
    pub n_inducing: usize,
    /// Rows per minibatch. The last one of an epoch may have fewer.
    pub batch: usize,
    /// Passes over the data, each in a new random order.
    pub epochs: usize,
    /// The learning rate of Adam.
    pub learning_rate: f64,
    /// The number of random rows that determine the first length-scales and inducing points.
    pub init_rows: usize,
}

impl Default for PublishedGpConfig {
    fn default() -> PublishedGpConfig {
        PublishedGpConfig { n_inducing: 500, batch: 1000, epochs: 100, learning_rate: 5e-4, init_rows: 1000 }
    }
}

/// The parameters that are learnt, or a gradient by them.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedParameters {
    /// log l `[D]`; l is the square of a length-scale.
    pub log_squared_lengths: Vec<f64>,
    /// log s: the signal variance.
    pub log_variance: f64,
    /// log v: the noise variance.
    pub log_noise: f64,
    /// Z [M, D].
    pub inducing: Mat<f64>,
    /// m `[M]`: natural mean of the posterior over the inducing points, without the prior's part.
    pub mean: Vec<f64>,
    /// L [M, M]: factor of its precision, without the prior's part. It is not triangular.
    pub factor: Mat<f64>,
}

impl PublishedParameters {
    /// The energy of a minibatch x [b, D], y `[b]` out of `n` rows, with its gradient.
    pub fn energy(&self, x: MatRef<'_, f64>, y: &[f64], n: usize) -> Result<PublishedEnergy, Error> {
        energy(self, x, y, n, &Scratch::default())
    }
}

impl SurrogateSettings for PublishedGpConfig {
    type Surrogate = PublishedGp;

    /// Reports every step of Adam.
    fn fit_with(&self, x: MatRef<'_, f64>, y: &[f64], seed: u64, report: Report<'_>) -> Result<PublishedGp, Error> {
        for (name, value) in [("n_inducing", self.n_inducing), ("batch", self.batch), ("init_rows", self.init_rows)] {
            if value == 0 {
                return Err(Error::BadSetting { name, value: "0".to_owned(), range: "a fit needs at least 1" });
            }
        }
        check_data(x, y)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut params = self.start(x, y, &mut rng);
        let (n, m, n_dims) = (y.len(), params.inducing.nrows(), x.ncols());
        let sizes = [n_dims, 2, m * n_dims, m, m * m];
        let mut adams = sizes.map(Adam::new);
        let scratch = Scratch::default();
        let n_steps = self.epochs * n.div_ceil(self.batch);
        let mut order: Vec<usize> = (0..n).collect();
        let mut step = 0;
        for _ in 0..self.epochs {
            order.shuffle(&mut rng);
            for rows in order.chunks(self.batch) {
                step += 1;
                let batch_y: Vec<f64> = rows.iter().map(|&row| y[row]).collect();
                let found = energy(&params, gather(x, rows).as_ref(), &batch_y, n, &scratch)?;
                ascend(&mut params, &found.gradient, &mut adams, Adam::rate(self.learning_rate, step));
                scratch.give([found.gradient.factor]);
                report(Progress { step, n_steps, objective: found.value / rows.len() as f64 });
            }
        }
        PublishedGp::new(params)
    }
}

impl PublishedGpConfig {
    fn start(&self, x: MatRef<'_, f64>, y: &[f64], rng: &mut ChaCha8Rng) -> PublishedParameters {
        let rows = sample_rows(y.len(), self.init_rows.max(self.n_inducing), rng);
        let median = median_of_pairs(&gather(x, &rows)).unwrap_or(0.0);
        let chosen = &rows[..self.n_inducing.min(rows.len())];
        let m = chosen.len();
        PublishedParameters {
            log_squared_lengths: vec![(0.5 * (median + 1e-3)).ln(); x.ncols()],
            log_variance: 0.0,
            log_noise: 0.0,
            inducing: gather(x, chosen),
            mean: chosen.iter().map(|&row| y[row]).collect(),
            factor: Mat::from_fn(m, m, |_, _| StandardNormal.sample(rng)),
        }
    }
}

fn ascend(params: &mut PublishedParameters, gradient: &PublishedParameters, adams: &mut [Adam; 5], rate: f64) {
    let [lengths, scales, inducing, mean, factor] = adams;
    lengths.ascend(rate, &mut params.log_squared_lengths, &gradient.log_squared_lengths);
    let mut pair = [params.log_variance, params.log_noise];
    scales.ascend(rate, &mut pair, &[gradient.log_variance, gradient.log_noise]);
    [params.log_variance, params.log_noise] = pair;
    mean.ascend(rate, &mut params.mean, &gradient.mean);
    inducing.ascend_columns(rate, &mut params.inducing, &gradient.inducing);
    factor.ascend_columns(rate, &mut params.factor, &gradient.factor);
}

/// A fitted Gaussian process of the published protocol.
#[derive(Clone, Debug)]
pub struct PublishedGp {
    params: PublishedParameters,
    posterior: KernelPosterior,
}

impl PublishedGp {
    /// The model with these parameters.
    pub fn new(params: PublishedParameters) -> Result<PublishedGp, Error> {
        let scratch = Scratch::default();
        let state = State::new(&params, &scratch);
        let side = state.side(&params, 1.0, &scratch)?;
        let (weights, shrink) = state.predictor(&params, 1.0, &side, &scratch);
        let posterior = state.into_posterior(weights, shrink);
        Ok(PublishedGp { params, posterior })
    }

    /// The learnt parameters.
    pub fn parameters(&self) -> &PublishedParameters {
        &self.params
    }
}

impl Surrogate for PublishedGp {
    fn predict(&self, x: MatRef<'_, f64>) -> Posterior {
        let mut posterior = predict(&self.posterior, x);
        // The published code takes the absolute value of a negative variance. Our other surrogates take 0.
        posterior.variance.iter_mut().for_each(|variance| *variance = variance.abs());
        posterior
    }

    fn fantasise(&self, x: MatRef<'_, f64>) -> Box<dyn Surrogate> {
        Box::new(PublishedGp { params: self.params.clone(), posterior: self.posterior.fantasise(x) })
    }

    fn gradient(&self, x: &[f64]) -> Option<PosteriorGradient> {
        Some(gradient(&self.posterior, MatRef::from_row_major_slice(x, 1, x.len())))
    }
}
