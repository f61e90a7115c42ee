//! [`Belief`]: a surrogate and an acquisition, as the criterion of a search through a space.

use faer::MatRef;

use crate::Matrix;
use crate::acquisition::Acquisition;
use crate::space::Criterion;
use crate::surrogate::Surrogate;

pub(super) struct Belief {
    pub(super) surrogate: Box<dyn Surrogate>,
    pub(super) acquisition: Box<dyn Acquisition>,
    /// The highest score so far, in the units of the fit.
    pub(super) best: f64,
    /// Whether imagined outcomes spread a batch out.
    pub(super) fantasies: bool,
}

impl Criterion for Belief {
    fn score(&self, x: MatRef<'_, f64>) -> Vec<f64> {
        self.acquisition.score(&self.surrogate.predict(x), self.best)
    }

    fn score_f32(&self, x: MatRef<'_, f32>) -> Vec<f64> {
        self.acquisition.score(&self.surrogate.predict_f32(x), self.best)
    }

    fn imagine(&mut self, vector: &[f64]) -> bool {
        if self.fantasies {
            let x = Matrix::from_fn(1, vector.len(), |_, column| vector[column]);
            self.surrogate = self.surrogate.fantasise(x.as_ref());
        }
        self.fantasies
    }
}
