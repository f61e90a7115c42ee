//! [`Dngo`]: the mixture of its members with equal weights.

use faer::MatRef;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::member::{Member, Workspace};
use super::regression::BayesianRegression;
use super::units::{Scores, standardise};
use crate::numerics::shards::BLOCK;
use crate::numerics::units::Units;
use crate::surrogate::{Posterior, Surrogate};

/// A fitted DNGO.
#[derive(Clone, Debug)]
pub struct Dngo {
    units: Units,
    scores: Scores,
    members: Vec<Member>,
}

impl Dngo {
    pub(super) fn new(units: Units, scores: Scores, members: Vec<Member>) -> Dngo {
        Dngo { units, scores, members }
    }

    /// The regression of each member, in units of the standardised scores.
    pub fn regressions(&self) -> impl Iterator<Item = &BayesianRegression> {
        self.members.iter().map(Member::regression)
    }

    /// The log evidence of the regression, in nats, averaged over the members.
    pub fn log_evidence(&self) -> f64 {
        self.regressions().map(BayesianRegression::log_evidence).sum::<f64>() / self.members.len() as f64
    }

    /// Mean: the mean of the members' means. Variance: the mean of their variances plus the variance of their means.
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
            // One member agrees with itself; rounding may say otherwise.
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

    /// Members observe the mean of the ensemble, so that they also disagree less about these rows. The reported mean stays the
    /// same.
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
