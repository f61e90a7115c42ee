//! [`Belief`]: a surrogate seen through an acquisition, as the criterion that a space is searched by.

use faer::MatRef;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::Matrix;
use crate::acquisition::Acquisition;
use crate::space::Criterion;
use crate::surrogate::{Posterior, Surrogate};

/// Rows predicted at a time: the intermediate matrices of a surrogate stay small, and every core has its own.
const CHUNK: usize = 8192;

pub(super) struct Belief {
    pub(super) surrogate: Box<dyn Surrogate>,
    pub(super) acquisition: Box<dyn Acquisition>,
    /// The highest score so far, in the units of the fit.
    pub(super) best: f64,
    /// Whether a batch is spread out by imagined outcomes.
    pub(super) fantasies: bool,
}

impl Criterion for Belief {
    fn score(&self, x: MatRef<'_, f64>) -> Vec<f64> {
        self.acquisition.score(&self.surrogate.predict(x), self.best)
    }

    /// Predicts in chunks but scores once: an acquisition that draws random numbers sees every row at its own index.
    fn score_f32(&self, x: MatRef<'_, f32>) -> Vec<f64> {
        let chunk = |index: usize| {
            let start = index * CHUNK;
            predict_f32(&*self.surrogate, x.subrows(start, CHUNK.min(x.nrows() - start)))
        };
        let parts: Vec<Posterior> = (0..x.nrows().div_ceil(CHUNK)).into_par_iter().map(chunk).collect();
        let noise = parts.first().map_or(0.0, |part| part.noise);
        let mut whole = Posterior { mean: Vec::new(), variance: Vec::new(), noise };
        for part in parts {
            whole.mean.extend(part.mean);
            whole.variance.extend(part.variance);
        }
        self.acquisition.score(&whole, self.best)
    }

    fn imagine(&mut self, vector: &[f64]) -> bool {
        let x = Matrix::from_fn(1, vector.len(), |_, column| vector[column]);
        match fantasise(&*self.surrogate, x.as_ref()).filter(|_| self.fantasies) {
            Some(next) => {
                self.surrogate = next;
                true
            }
            None => false,
        }
    }
}

// STAND-INS, to be replaced on merging by `Surrogate::predict_f32` and `Surrogate::fantasise`.

fn predict_f32(surrogate: &dyn Surrogate, x: MatRef<'_, f32>) -> Posterior {
    surrogate.predict(Matrix::from_fn(x.nrows(), x.ncols(), |row, column| f64::from(x[(row, column)])).as_ref())
}

fn fantasise(_surrogate: &dyn Surrogate, _x: MatRef<'_, f64>) -> Option<Box<dyn Surrogate>> {
    None
}
