//! The fit of DNGO: networks, their bases, and the regressions on them.

use faer::{Mat, MatRef};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::held_out::{self, Fold};
use super::member::{Member, design};
use super::network::{Network, Trace};
use super::regression::{BayesianRegression, decompose};
use super::train::train;
use super::units::{Scores, standardise};
use super::{Dngo, DngoConfig, Evidence};
use crate::check::check_data;
use crate::error::Error;
use crate::numerics::rows::sample_rows;
use crate::numerics::units::Units;
use crate::surrogate::{Progress, Report, SurrogateSettings};

/// With fewer rows, none is held out.
const MIN_ROWS: usize = 4;

impl SurrogateSettings for DngoConfig {
    type Surrogate = Dngo;

    /// Reports every member of the ensemble, once all are done.
    fn fit_with(&self, x: MatRef<'_, f64>, y: &[f64], seed: u64, report: Report<'_>) -> Result<Dngo, Error> {
        self.check()?;
        check_data(x, y)?;
        let units = Units::per_dimension(x);
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
            report(Progress { step: index + 1, n_steps: self.ensemble, objective });
        }
        Ok(Dngo::new(units, scores, members))
    }
}

impl DngoConfig {
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
        let network = train(self, points, &targets, rng)?;
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

    /// alpha and beta by cross-validation.
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
