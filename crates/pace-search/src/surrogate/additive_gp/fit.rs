//! The fit of an [`AdditiveGp`], from data to posterior.

use faer::MatRef;
use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;

use super::covariance::Covariance;
use super::evidence::Rows;
use super::model::Data;
use super::{AdditiveGp, AdditiveGpConfig};
use crate::check::check_data;
use crate::error::Error;
use crate::numerics::minimise::Lbfgs;
use crate::numerics::rows::gather;
use crate::surrogate::{Progress, Report, SurrogateSettings};

/// The fit stops if an iteration gains less than this, relative to the evidence.
const TOLERANCE: f64 = 1e-5;
/// The smallest logarithm of the noise, whose unit is the variance of the scores.
const LOWEST_NOISE: f64 = -16.0;

impl SurrogateSettings for AdditiveGpConfig {
    type Surrogate = AdditiveGp;

    /// Reports every iteration of L-BFGS.
    fn fit_with(&self, x: MatRef<'_, f64>, y: &[f64], seed: u64, report: Report<'_>) -> Result<AdditiveGp, Error> {
        self.check(x.ncols())?;
        check_data(x, y)?;
        let data = Data::best(x, y, self.max_rows);
        let learnt = self.learn(&data.x, &data.y, seed, report)?;
        AdditiveGp::condition(learnt, data, self.max_rows)
    }
}

impl AdditiveGpConfig {
    /// The hyperparameters with the highest posterior density, given some of the rows, which are sorted by their scores.
    fn learn(&self, x: &crate::Matrix, y: &[f64], seed: u64, report: Report<'_>) -> Result<Covariance, Error> {
        let n_best = y.len().min(self.learn_rows.div_ceil(2));
        let n_more = (self.learn_rows - n_best).min(y.len() - n_best);
        let more = sample(&mut ChaCha8Rng::seed_from_u64(seed), y.len() - n_best, n_more);
        let mut rows: Vec<usize> = (0..n_best).chain(more.into_iter().map(|row| n_best + row)).collect();
        rows.sort_unstable();
        let (x, y) = (gather(x.as_ref(), &rows), rows.iter().map(|&row| y[row]).collect::<Vec<f64>>());
        let start = Covariance::start(self, x.as_ref());
        let (centre, rows) = (start.pack(), Rows::new(&start, x.as_ref(), &y));
        let mut evaluate = |packed: &[f64]| {
            if packed.last().is_some_and(|&log_noise| log_noise < LOWEST_NOISE) {
                return Ok((f64::INFINITY, vec![0.0; packed.len()]));
            }
            let (value, mut gradient) = rows.evidence(&start.unpack(packed))?;
            let mut value = -value;
            for ((g, &at), &centre) in gradient.iter_mut().zip(packed).zip(&centre) {
                let deviation = (at - centre) / self.prior;
                value += 0.5 * deviation * deviation;
                *g = deviation / self.prior - *g;
            }
            Ok((value, gradient))
        };
        let lbfgs = Lbfgs { memory: 10, max_iterations: self.max_iterations, tolerance: TOLERANCE };
        let n_rows = y.len() as f64;
        let packed = lbfgs.minimize(centre.clone(), &mut evaluate, &mut |step, value| {
            report(Progress { step, n_steps: self.max_iterations, objective: -value / n_rows });
        })?;
        Ok(start.unpack(&packed))
    }
}
