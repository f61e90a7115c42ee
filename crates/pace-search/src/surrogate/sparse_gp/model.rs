//! [`SparseGp`]: the result of a fit.

use faer::{Mat, MatRef};

use super::bound::Hyperparameters;
use crate::gp::{KernelPosterior, gradient, predict};
use crate::numerics::units::Units;
use crate::surrogate::{Posterior, PosteriorGradient, Surrogate};

/// A fitted sparse Gaussian process.
#[derive(Clone, Debug)]
pub struct SparseGp {
    pub(super) units: Units,
    pub(super) offset: f64,
    /// In the units above.
    pub(super) hyper: Hyperparameters,
    pub(super) posterior: KernelPosterior,
    pub(super) log_evidence: f64,
}

impl SparseGp {
    /// The learnt hyperparameters in the units of the data; with a map, in those of the data minus its mean.
    pub fn hyperparameters(&self) -> Hyperparameters {
        if let Some(map) = &self.hyper.map {
            // Length-scales and inducing points come after the map, which absorbs the units.
            let map = Mat::from_fn(map.nrows(), map.ncols(), |k, d| map[(k, d)] / self.units.scale[d]);
            return Hyperparameters { map: Some(map), ..self.hyper.clone() };
        }
        let lengths = self.hyper.log_lengths.iter().zip(&self.units.scale);
        Hyperparameters {
            log_lengths: lengths.map(|(log, scale)| log + scale.ln()).collect(),
            inducing: self.units.undo(self.hyper.inducing.as_ref()),
            ..self.hyper.clone()
        }
    }

    /// The bound on all rows, in nats.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }
}

impl Surrogate for SparseGp {
    fn predict(&self, x: MatRef<'_, f64>) -> Posterior {
        let n_dims = self.units.scale.len();
        assert_eq!(x.ncols(), n_dims, "{} columns, but the fit saw {n_dims}", x.ncols());
        let mut posterior = predict(&self.posterior, self.units.apply(x).as_ref());
        posterior.mean.iter_mut().for_each(|mean| *mean += self.offset);
        posterior.variance.iter_mut().for_each(|variance| *variance = variance.max(0.0));
        posterior
    }

    fn fantasise(&self, x: MatRef<'_, f64>) -> Box<dyn Surrogate> {
        let posterior = self.posterior.fantasise(self.units.apply(x).as_ref());
        Box::new(SparseGp { posterior, ..self.clone() })
    }

    fn gradient(&self, x: &[f64]) -> Option<PosteriorGradient> {
        let row = self.units.apply(MatRef::from_row_major_slice(x, 1, x.len()));
        let mut gradient = gradient(&self.posterior, row.as_ref());
        gradient.mean += self.offset;
        for by in [&mut gradient.by_mean, &mut gradient.by_variance] {
            by.iter_mut().zip(&self.units.scale).for_each(|(by, scale)| *by /= scale);
        }
        Some(gradient)
    }
}
