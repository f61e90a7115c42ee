//! How well a surrogate on vectors of graphs predicts their scores (Table 1 of the paper).

use anyhow::Result;
use pace_graph::{Vectors, mean_std};
use pace_search::metrics::{kendall, pearson, rmse, spearman};
use pace_search::surrogate::{Progress, PublishedGpConfig, SparseGpConfig, Surrogate, SurrogateSettings};
use pace_search::widen;
use pace_train::record::{Run, Stage};
use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::data::VaeData;
use crate::metrics::mean;
use crate::progress::steps_bar;

/// Which Gaussian process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gp {
    /// Ours: a collapsed bound, maximised by its gradient.
    Sparse(SparseGpConfig),
    /// The authors', on random training rows.
    Published {
        /// Settings.
        config: PublishedGpConfig,
        /// Rows drawn per seed; all if `None`.
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

/// Fits of one kind of GP, with seeds from 1 on.
#[derive(Clone, Debug)]
pub struct Fits<'a> {
    /// What the fits are called, but for their seeds.
    pub stage: Stage,
    /// The GP.
    pub gp: &'a Gp,
    /// How many fits.
    pub n_seeds: usize,
}

/// The scores of vectors by several kinds of GPs. All fits run in parallel; name the slowest kind first, so that no thread
/// is left alone with it.
///
/// # Errors
/// Those of the fits.
pub fn scores<const K: usize>(
    run: &mut Run,
    fits: [Fits<'_>; K],
    data: &VaeData,
    (train, test): (&Vectors, &Vectors),
) -> Result<[Vec<Score>; K]> {
    let seeds = |fits: &Fits<'_>| 1..=fits.n_seeds as u64;
    let jobs: Vec<(&Fits<'_>, u64)> = fits.iter().flat_map(|fits| seeds(fits).map(move |seed| (fits, seed))).collect();
    let stages: Vec<Stage> = jobs.iter().map(|(fits, seed)| fits.stage.clone().seed(*seed)).collect();
    let title = fits.iter().filter(|fits| fits.n_seeds > 0).map(|fits| format!("{} {}", fits.n_seeds, fits.stage));
    // Each fit is a hundred steps of the bar, for their own steps take different times.
    let bar = steps_bar(format!("fits: {}", title.collect::<Vec<_>>().join(", ")), 100 * jobs.len() as u64);
    let found: Vec<Score> = run.each(&stages, |index| {
        let (fits, seed) = jobs[index];
        let scored = Scored { train, train_scores: &data.train_scores, test, test_scores: &data.test_scores };
        let mut done = 0;
        score(scored, fits.gp, seed, &mut |progress| {
            let percent = (100 * progress.step / progress.n_steps.max(1)) as u64;
            bar.inc(percent - done);
            done = percent;
        })
    })?;
    bar.finish_and_clear();
    let mut found = found.into_iter();
    Ok(fits.map(|Fits { stage, n_seeds, .. }| {
        let scores: Vec<Score> = found.by_ref().take(n_seeds).collect();
        if !scores.is_empty() {
            let column = |part: fn(&Score) -> f64| mean(&scores.iter().map(part).collect::<Vec<f64>>());
            println!("{stage}: RMSE {:.4}, Pearson {:.4} ({n_seeds} fits)", column(|s| s.rmse), column(|s| s.pearson));
        }
        scores
    }))
}

/// Vectors and scores to fit and to test on.
#[derive(Clone, Copy, Debug)]
struct Scored<'a> {
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
fn score(data: Scored<'_>, gp: &Gp, seed: u64, progress: &mut dyn FnMut(Progress)) -> Result<Score> {
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
