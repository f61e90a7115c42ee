//! Predicting scores: the methods that `pace predict` compares, by cross-validation on the same folds.

mod folds;
mod gp;
mod tuned;

use anyhow::Result;
use pace_search::metrics::{kendall, pearson, rmse, spearman};
use serde::Serialize;

pub use folds::Folds;
pub use gp::{FittedGp, Gp};
pub use tuned::Tuned;

/// A prediction with its uncertainty, if the method knows one.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Prediction {
    /// The expected score; of a method that only ranks, a number whose order counts.
    pub mean: f64,
    /// Its standard deviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub std: Option<f64>,
}

/// A way to predict the scores of some rows from those of others.
pub enum Method<'a> {
    /// A Gaussian process on vectors that are there already.
    Gp(Gp),
    /// The whole encoder, trained on the known scores.
    Tuned(Tuned<'a>),
}

impl Method<'_> {
    /// Predicts the scores of `wanted` rows from those of `known` ones.
    ///
    /// # Errors
    /// Those of the fit.
    pub fn predict(&self, known: &[usize], scores: &[f64], wanted: &[usize]) -> Result<Vec<Prediction>> {
        match self {
            Method::Gp(gp) => gp.predict(known, scores, wanted),
            Method::Tuned(tuned) => tuned.predict(known, scores, wanted),
        }
    }

    /// Whether predictions are in the units of the scores.
    pub fn has_units(&self) -> bool {
        matches!(self, Method::Gp(_))
    }
}

/// A method under its name.
pub struct Named<'a> {
    /// For options and files.
    pub id: &'static str,
    /// For people.
    pub title: String,
    /// Whether it is there to be beaten: nothing was trained for it.
    pub is_control: bool,
    /// The method.
    pub method: Method<'a>,
}

/// How well a method predicts, on all folds together.
#[derive(Clone, Debug, Serialize)]
pub struct Quality {
    /// Root of the mean squared error, in the units of the scores; `None` for methods that only rank.
    pub rmse: Option<f64>,
    /// Pearson's correlation.
    pub pearson: f64,
    /// Spearman's, of ranks.
    pub spearman: f64,
    /// Kendall's tau.
    pub kendall: f64,
    /// Kendall's tau of each fold, for an error bar.
    pub kendall_of_folds: Vec<f64>,
}

/// Cross-validates a method.
///
/// # Errors
/// Those of the fits.
pub fn validate(method: &Method<'_>, scores: &[f64], folds: &Folds, mut done: impl FnMut()) -> Result<Quality> {
    let (mut predicted, mut actual, mut of_folds) = (Vec::new(), Vec::new(), Vec::new());
    for fold in 0..folds.count() {
        let (known, wanted) = folds.split(fold);
        let y: Vec<f64> = known.iter().map(|&row| scores[row]).collect();
        let found: Vec<f64> = method.predict(&known, &y, &wanted)?.iter().map(|prediction| prediction.mean).collect();
        let truth: Vec<f64> = wanted.iter().map(|&row| scores[row]).collect();
        of_folds.push(kendall(&found, &truth));
        predicted.extend(found);
        actual.extend(truth);
        done();
    }
    // Numbers of different networks that only rank have no common zero: their order counts within a fold only.
    let within = of_folds.iter().sum::<f64>() / of_folds.len() as f64;
    let has_units = method.has_units();
    Ok(Quality {
        rmse: has_units.then(|| rmse(&predicted, &actual)),
        pearson: pearson(&predicted, &actual),
        spearman: spearman(&predicted, &actual),
        kendall: within,
        kendall_of_folds: of_folds,
    })
}
