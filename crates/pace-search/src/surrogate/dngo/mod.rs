//! [`Dngo`]: Bayesian linear regression on the last hidden layer of a network (Snoek et al. 2015).
//!
//! A network is trained on the scores; its last hidden layer phi(x) then serves as a basis, and a
//! [`BayesianRegression`] on it says how sure to be. A fit is linear in the number of rows, and so is a prediction:
//! that is what makes a pool of some hundred thousand vectors searchable.
//!
//! ```
//! use pace_search::Matrix;
//! use pace_search::surrogate::{DngoConfig, Surrogate};
//! let x = Matrix::from_fn(40, 1, |row, _| row as f64 / 10.0);
//! let y: Vec<f64> = x.col(0).iter().map(|x| x.sin()).collect();
//! let dngo = DngoConfig::default().fit(x.as_ref(), &y, 0)?;
//! let posterior = dngo.predict(Matrix::from_fn(1, 1, |_, _| 2.15).as_ref());
//! assert!((posterior.mean[0] - 2.15_f64.sin()).abs() < 0.1);
//! # Ok::<(), pace_search::Error>(())
//! ```

use faer::{Mat, MatRef};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::{Deserialize, Serialize};

use super::check::check_data;
use super::init::{LengthScaleInit, Units, sample_rows};
use super::shards::BLOCK;
use super::{Posterior, Progress, Surrogate};
use crate::error::Error;
use held_out::Fold;
use member::{Member, Workspace, design};
use network::{Network, Trace};
use regression::decompose;

mod evidence;
mod held_out;
mod loss;
mod member;
mod nelder_mead;
mod network;
mod regression;
mod tanh;
mod train;

pub use evidence::Evidence;
pub use loss::Loss;
pub use regression::BayesianRegression;

/// With fewer rows than this none is held out.
const MIN_ROWS: usize = 4;

/// How to fit a [`Dngo`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DngoConfig {
    /// H: units of each hidden layer, all tanh.
    pub width: usize,
    /// Hidden layers.
    pub depth: usize,
    /// What the network is trained on.
    pub loss: Loss,
    /// Passes over the rows.
    pub epochs: usize,
    /// Rows of a step of Adam (nothing: all); at most the number of rows is used.
    pub batch: Option<usize>,
    /// Of Adam, at the start.
    pub learning_rate: f64,
    /// Let the learning rate fall to zero along half a cosine.
    pub cosine_decay: bool,
    /// Share of the weights that a step of size 1 takes away.
    pub weight_decay: f64,
    /// Model scores of mean 0 and variance 1, and undo that in the posterior.
    pub standardise_targets: bool,
    /// Give the regression a constant besides the basis.
    pub bias: bool,
    /// How the precisions of the regression are found.
    pub evidence: Evidence,
    /// Networks; the belief is that of their even mixture.
    pub ensemble: usize,
}

impl Default for DngoConfig {
    fn default() -> DngoConfig {
        DngoConfig {
            width: 128,
            depth: 3,
            loss: Loss::Squared,
            epochs: 100,
            batch: None,
            learning_rate: 3e-3,
            cosine_decay: true,
            weight_decay: 0.0,
            standardise_targets: true,
            bias: true,
            evidence: Evidence::CrossValidated { folds: 5 },
            ensemble: 1,
        }
    }
}

impl DngoConfig {
    /// As the published searches ran it, mistakes included.
    pub fn published() -> DngoConfig {
        DngoConfig {
            epochs: 30,
            batch: Some(10),
            learning_rate: 0.01,
            cosine_decay: false,
            standardise_targets: false,
            bias: false,
            evidence: Evidence::Published,
            ..DngoConfig::default()
        }
    }

    /// Fits to vectors x [N, D] and scores y [N]; `seed` decides everything that is random.
    pub fn fit(&self, x: MatRef<'_, f64>, y: &[f64], seed: u64) -> Result<Dngo, Error> {
        self.fit_with(x, y, seed, &mut |_| {})
    }

    /// As [`fit`](Self::fit), telling `progress` of every member of the ensemble once they are done.
    pub fn fit_with(
        &self,
        x: MatRef<'_, f64>,
        y: &[f64],
        seed: u64,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Dngo, Error> {
        self.check()?;
        check_data(x, y)?;
        let units = Units::of(x, LengthScaleInit::PerDimension);
        let scores = match self.standardise_targets {
            true => Scores::of(y),
            false => Scores { mean: 0.0, scale: 1.0 },
        };
        let y: Vec<f64> = y.iter().map(|y| (y - scores.mean) / scores.scale).collect();
        let mut points = Mat::zeros(x.ncols(), x.nrows());
        standardise(&units, x, 0..x.nrows(), &mut points);
        let member = |index: usize| self.fit_member(&points, &y, seed, index);
        let members = (0..self.ensemble).into_par_iter().map(member).collect::<Result<Vec<Member>, Error>>()?;
        for (index, member) in members.iter().enumerate() {
            let objective = member.regression().log_evidence() / y.len() as f64;
            progress(Progress { step: index + 1, n_steps: self.ensemble, objective });
        }
        Ok(Dngo { units, scores, members })
    }

    fn fit_member(&self, points: &Mat<f32>, y: &[f64], seed: u64, index: usize) -> Result<Member, Error> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(index as u64);
        let (network, phi) = self.train(points.as_ref(), y, &mut rng)?;
        let regression = match self.evidence {
            Evidence::CrossValidated { folds } if y.len() >= MIN_ROWS => {
                let (alpha, beta) = self.cross_validate(points, y, folds.min(y.len()), &mut rng)?;
                BayesianRegression::new(phi.as_ref(), y, alpha, beta)?
            }
            evidence => BayesianRegression::fit(phi.as_ref(), y, evidence, &mut rng)?,
        };
        Ok(Member::new(network, self.bias, regression))
    }

    /// A network trained on points [D, n], and Phi of the same.
    fn train(&self, points: MatRef<'_, f32>, y: &[f64], rng: &mut ChaCha8Rng) -> Result<(Network, Mat<f64>), Error> {
        let targets: Vec<f32> = y.iter().map(|&y| y as f32).collect();
        let network = train::train(self, points, &targets, rng)?;
        let phi = self.design(&network, points);
        Ok((network, phi))
    }

    /// Phi of points [D, n].
    fn design(&self, network: &Network, points: MatRef<'_, f32>) -> Mat<f64> {
        let mut trace = Trace::new(network, points.ncols());
        trace.input().copy_from(points);
        network.forward_basis(&mut trace);
        design(trace.basis().as_ref(), self.bias)
    }

    /// alpha and beta for rows that were not seen.
    fn cross_validate(
        &self,
        points: &Mat<f32>,
        y: &[f64],
        n_folds: usize,
        rng: &mut ChaCha8Rng,
    ) -> Result<(f64, f64), Error> {
        let order = sample_rows(y.len(), y.len(), rng);
        let gather = |rows: &[usize]| {
            let part = Mat::from_fn(points.nrows(), rows.len(), |d, i| points[(d, rows[i])]);
            (part, rows.iter().map(|&row| y[row]).collect::<Vec<f64>>())
        };
        let mut folds = Vec::with_capacity(n_folds);
        for index in 0..n_folds {
            let (first, last) = (y.len() * index / n_folds, y.len() * (index + 1) / n_folds);
            let (seen, seen_y) = gather(&[&order[..first], &order[last..]].concat());
            let (held_out, held_out_y) = gather(&order[first..last]);
            let (network, phi) = self.train(seen.as_ref(), &seen_y, rng)?;
            let spectrum = decompose(phi.as_ref(), &seen_y)?;
            folds.push(Fold::new(spectrum, self.design(&network, held_out.as_ref()).as_ref(), &held_out_y));
        }
        Ok(held_out::maximise(&folds))
    }

    fn check(&self) -> Result<(), Error> {
        let sizes = [("width", self.width), ("depth", self.depth), ("ensemble", self.ensemble)];
        for (name, value) in sizes.into_iter().chain([("batch", self.batch.unwrap_or(1))]) {
            if value == 0 {
                return Err(Error::BadSetting { name, value: "0".to_owned(), range: "a fit needs at least 1" });
            }
        }
        if let Evidence::CrossValidated { folds: folds @ (0 | 1) } = self.evidence {
            return Err(Error::BadSetting { name: "folds", value: folds.to_string(), range: "it takes at least 2" });
        }
        for (name, value) in [("learning_rate", self.learning_rate), ("weight_decay", self.weight_decay)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(Error::BadSetting {
                    name,
                    value: value.to_string(),
                    range: "it is finite and not negative",
                });
            }
        }
        Ok(())
    }
}

/// Shift and scale of the scores.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scores {
    mean: f64,
    scale: f64,
}

impl Scores {
    fn of(y: &[f64]) -> Scores {
        let n = y.len() as f64;
        let mean = y.iter().sum::<f64>() / n;
        let variance = y.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / n;
        // Equal scores keep their unit; rounding alone is no spread.
        let is_spread = variance.sqrt() > 1e-12 * mean.abs().max(f64::MIN_POSITIVE);
        Scores { mean, scale: if is_spread { variance.sqrt() } else { 1.0 } }
    }
}

/// Rows of x in units of the fit, one per column of `dst`.
fn standardise<T: Copy + Into<f64>>(units: &Units, x: MatRef<'_, T>, rows: std::ops::Range<usize>, dst: &mut Mat<f32>) {
    for (i, row) in rows.enumerate() {
        let entries = x.row(row).iter().zip(units.mean.iter().zip(&units.scale));
        for (dst, (&value, (mean, scale))) in dst.col_as_slice_mut(i).iter_mut().zip(entries) {
            let value: f64 = value.into();
            *dst = ((value - mean) / scale) as f32;
        }
    }
}

/// A fitted DNGO.
#[derive(Clone, Debug)]
pub struct Dngo {
    units: Units,
    scores: Scores,
    members: Vec<Member>,
}

impl Dngo {
    /// The regression of each member, in units of the (standardised) scores that it was fitted to.
    pub fn regressions(&self) -> impl Iterator<Item = &BayesianRegression> {
        self.members.iter().map(Member::regression)
    }

    /// The log evidence of the regression, in nats, averaged over the members.
    pub fn log_evidence(&self) -> f64 {
        self.regressions().map(BayesianRegression::log_evidence).sum::<f64>() / self.members.len() as f64
    }

    /// The mean of the members' means; the mean of their variances plus the variance of their means.
    fn mixture<T: Copy + Into<f64> + Sync>(&self, x: MatRef<'_, T>) -> Posterior {
        let n_dims = self.units.scale.len();
        assert_eq!(x.ncols(), n_dims, "{} columns, but the fit saw {n_dims}", x.ncols());
        let block_rows = BLOCK.min(x.nrows());
        let block = |work: &mut Workspace, index: usize| {
            let (start, end) = (index * BLOCK, ((index + 1) * BLOCK).min(x.nrows()));
            standardise(&self.units, x, start..end, work.trace.input());
            let mut sums = vec![Sums::default(); end - start];
            for member in &self.members {
                member.beliefs(work, end - start, |i, belief| {
                    sums[i].mean += belief.mean;
                    sums[i].variance += belief.variance;
                    sums[i].believed += belief.believed;
                    sums[i].squares += belief.believed * belief.believed;
                });
            }
            sums
        };
        let blocks: Vec<Vec<Sums>> = (0..x.nrows().div_ceil(BLOCK))
            .into_par_iter()
            .map_init(|| self.members[0].workspace(block_rows), block)
            .collect();
        let n = self.members.len() as f64;
        let square = self.scores.scale * self.scores.scale;
        let finish = |sums: Sums| {
            let disagreement = (sums.squares / n - (sums.believed / n).powi(2)).max(0.0);
            // One member agrees with itself, whatever rounding says.
            let disagreement = if self.members.len() == 1 { 0.0 } else { disagreement };
            (self.scores.mean + self.scores.scale * sums.mean / n, square * (sums.variance / n + disagreement))
        };
        let (mean, variance) = blocks.into_iter().flatten().map(finish).unzip();
        let noise = square * self.regressions().map(|regression| 1.0 / regression.beta()).sum::<f64>() / n;
        Posterior { mean, variance, noise }
    }
}

/// Sums over the members for one point.
#[derive(Clone, Copy, Default)]
struct Sums {
    mean: f64,
    variance: f64,
    believed: f64,
    squares: f64,
}

impl Surrogate for Dngo {
    fn predict(&self, x: MatRef<'_, f64>) -> Posterior {
        self.mixture(x)
    }

    fn predict_f32(&self, x: MatRef<'_, f32>) -> Posterior {
        self.mixture(x)
    }

    /// Members observe the mean of the ensemble, so that they also agree more where it was asked for; the mean that is
    /// reported stays.
    fn fantasise(&self, x: MatRef<'_, f64>) -> Box<dyn Surrogate> {
        if x.nrows() == 0 {
            return Box::new(self.clone());
        }
        let means = self.mixture(x).mean;
        let means: Vec<f64> = means.iter().map(|mean| (mean - self.scores.mean) / self.scores.scale).collect();
        let mut work = self.members[0].workspace(x.nrows());
        standardise(&self.units, x, 0..x.nrows(), work.trace.input());
        let members = self.members.iter().map(|member| member.observe(&mut work, &means)).collect();
        Box::new(Dngo { members, ..self.clone() })
    }
}
