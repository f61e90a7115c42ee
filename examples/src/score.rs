//! How well a surrogate on vectors of graphs predicts their scores (Table 1 of the paper).

use anyhow::Result;
use pace_graph::{Vectors, mean_std};
use pace_search::metrics::{kendall, pearson, rmse, spearman};
use pace_search::surrogate::{Progress, PublishedGpConfig, SparseGpConfig, Surrogate, SurrogateSettings};
use pace_search::widen;
use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Which Gaussian process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gp {
    /// Ours: a collapsed bound, maximised by its gradient.
    Sparse(SparseGpConfig),
    /// The authors', with as many random training rows as they take (all, where none is said).
    Published {
        /// Settings.
        config: PublishedGpConfig,
        /// Rows drawn per seed.
        n_rows: Option<usize>,
    },
}

/// The quality of predictions on the test part, in units of the training scores' standard deviation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Root mean squared error.
    pub rmse: f64,
    /// Pearson's correlation.
    pub pearson: f64,
    /// Spearman's rank correlation.
    pub spearman: f64,
    /// Kendall's rank correlation.
    pub kendall: f64,
}

/// Vectors and scores to fit and to test on.
#[derive(Clone, Copy, Debug)]
pub struct Scored<'a> {
    /// Vectors of the training part.
    pub train: &'a Vectors,
    /// Their scores.
    pub train_scores: &'a [f64],
    /// Vectors of the test part.
    pub test: &'a Vectors,
    /// Their scores.
    pub test_scores: &'a [f64],
}

/// Fits one Gaussian process with one seed and tests it. Scores are standardised by the rows of the fit, as the authors do.
///
/// # Errors
/// Those of the fit.
pub fn score(data: Scored<'_>, gp: &Gp, seed: u64, progress: &mut dyn FnMut(Progress)) -> Result<Score> {
    let n_train = data.train.len();
    let rows: Vec<usize> = match gp {
        Gp::Published { n_rows: Some(n_rows), .. } if *n_rows < n_train => {
            sample(&mut ChaCha8Rng::seed_from_u64(seed), n_train, *n_rows).into_vec()
        }
        _ => (0..n_train).collect(),
    };
    let scores: Vec<f64> = rows.iter().map(|&row| data.train_scores[row]).collect();
    let (mean, std) = mean_std(scores.iter().copied());
    let standardise = |scores: &[f64]| scores.iter().map(|score| (score - mean) / std).collect::<Vec<f64>>();
    let (x, y) = (widen(&data.train.select(&rows)), standardise(&scores));
    let (x_test, y_test) = (widen(data.test), standardise(data.test_scores));
    let posterior = match gp {
        Gp::Sparse(config) => config.fit_with(x.as_ref(), &y, seed, progress)?.predict(x_test.as_ref()),
        Gp::Published { config, .. } => config.fit_with(x.as_ref(), &y, seed, progress)?.predict(x_test.as_ref()),
    };
    let predicted = posterior.mean;
    Ok(Score {
        rmse: rmse(&predicted, &y_test),
        pearson: pearson(&predicted, &y_test),
        spearman: spearman(&predicted, &y_test),
        kendall: kendall(&predicted, &y_test),
    })
}
