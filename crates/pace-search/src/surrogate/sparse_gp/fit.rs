//! The fit of a [`SparseGp`], from data to posterior.

use faer::{Mat, MatRef};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::bound::{Hyperparameters, Problem};
use super::{SparseGp, SparseGpConfig};
use crate::check::check_data;
use crate::error::Error;
use crate::numerics::rows::{gather, sample_rows};
use crate::numerics::scratch::Scratch;
use crate::numerics::units::Units;
use crate::surrogate::{Progress, Report, SurrogateSettings};

impl SurrogateSettings for SparseGpConfig {
    type Surrogate = SparseGp;

    /// Reports every iteration of L-BFGS.
    fn fit_with(&self, x: MatRef<'_, f64>, y: &[f64], seed: u64, report: Report<'_>) -> Result<SparseGp, Error> {
        self.check()?;
        check_data(x, y)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let offset = self.offset(y);
        let y: Vec<f64> = y.iter().map(|y| y - offset).collect();
        let units = self.length_init.units(x);
        let x = units.apply(x);
        let scratch = Scratch::default();
        let all = Problem { kernel: self.kernel, jitter: self.jitter, x: x.as_ref(), y: &y, scratch: &scratch };
        let rows = match self.subset {
            Some(subset) if subset < y.len() => Some(sample_rows(y.len(), subset, &mut rng)),
            _ => None,
        };
        let n_steps = self.max_iterations + rows.as_ref().map_or(0, |_| self.refine_iterations);
        let mut step = 0;
        let mut report = |objective| {
            step += 1;
            report(Progress { step, n_steps, objective });
        };
        let hyper = match rows {
            None => self.learn(all, self.start(all, &mut rng), self.max_iterations, &mut report)?,
            Some(rows) => {
                let (x, y) = (gather(all.x, &rows), rows.iter().map(|&row| y[row]).collect::<Vec<f64>>());
                let part = Problem { x: x.as_ref(), y: &y, ..all };
                let hyper = self.learn(part, self.start(part, &mut rng), self.max_iterations, &mut report)?;
                self.learn(all, hyper, self.refine_iterations, &mut report)?
            }
        };
        self.conclude(units, offset, hyper, all)
    }
}

impl SparseGpConfig {
    /// The posterior given x [N, D] and y `[N]` with these hyperparameters, in the units of [`SparseGp::hyperparameters`].
    /// Nothing is learnt.
    ///
    /// # Panics
    /// If the shapes of `hyper` do not fit vectors of length D.
    pub fn condition(&self, mut hyper: Hyperparameters, x: MatRef<'_, f64>, y: &[f64]) -> Result<SparseGp, Error> {
        self.check()?;
        check_data(x, y)?;
        let n_mapped = hyper.map.as_ref().map_or(x.ncols(), Mat::nrows);
        let n_dims = hyper.map.as_ref().map_or(hyper.log_lengths.len(), Mat::ncols);
        assert_eq!(n_dims, x.ncols(), "hyperparameters for vectors of {n_dims}, but these have {}", x.ncols());
        assert_eq!((hyper.log_lengths.len(), hyper.inducing.ncols()), (n_mapped, n_mapped), "length-scales and points");
        let offset = self.offset(y);
        let y: Vec<f64> = y.iter().map(|y| y - offset).collect();
        let units = Units { scale: vec![1.0; n_dims], ..self.length_init.units(x) };
        if hyper.map.is_none() {
            hyper.inducing = units.apply(hyper.inducing.as_ref());
        }
        let (x, scratch) = (units.apply(x), Scratch::default());
        let all = Problem { kernel: self.kernel, jitter: self.jitter, x: x.as_ref(), y: &y, scratch: &scratch };
        self.conclude(units, offset, hyper, all)
    }

    /// The number that is subtracted from y.
    fn offset(&self, y: &[f64]) -> f64 {
        if self.center { y.iter().sum::<f64>() / y.len() as f64 } else { 0.0 }
    }

    fn conclude(&self, units: Units, offset: f64, hyper: Hyperparameters, all: Problem<'_>) -> Result<SparseGp, Error> {
        let (prior, solved) = self.bound.solve(all, &hyper)?;
        let log_evidence = solved.value;
        Ok(SparseGp { units, offset, hyper, posterior: prior.with(solved), log_evidence })
    }
}
