//! Our sparse Gaussian process against GPyTorch's on the same vectors. `tests/gpytorch/make_fixture.py` ran GPyTorch.

use pace_search::Matrix;
use pace_search::surrogate::{Hyperparameters, Posterior, SparseGp, SparseGpConfig, Surrogate, SurrogateSettings};
use serde::Deserialize;

use crate::data::Data;

/// What the script wrote; it says what the fields mean.
#[derive(Deserialize)]
struct Fixture {
    x: f64,
    y: f64,
    lengths: Vec<f64>,
    variance: f64,
    noise: f64,
    inducing: Vec<Vec<f64>>,
    elbo: f64,
    mean: Vec<f64>,
    var: Vec<f64>,
    nlpd: f64,
    nlpds: Vec<f64>,
    corrected: Vec<f64>,
    uncorrected: Vec<f64>,
}

impl Fixture {
    fn hyperparameters(&self) -> Hyperparameters {
        Hyperparameters {
            map: None,
            log_lengths: self.lengths.iter().map(|length| length.ln()).collect(),
            log_variance: self.variance.ln(),
            log_noise: self.noise.ln(),
            inducing: Matrix::from_fn(self.inducing.len(), self.lengths.len(), |j, d| self.inducing[j][d]),
        }
    }
}

/// The fixture, and its vectors, which are generated again.
fn both() -> (Fixture, Data) {
    let fixture: Fixture = serde_json::from_str(include_str!("../gpytorch/sgpr.json")).unwrap();
    let data = Data::like_na(2000, 500, 0);
    let x: f64 = data.x.col_iter().flat_map(|column| column.iter()).sum();
    let y: f64 = data.y.iter().map(|y| y.abs()).sum();
    let is_same = (x - fixture.x).abs() < 1e-6 && (y - fixture.y).abs() < 1e-6;
    assert!(is_same, "not the vectors that GPyTorch saw ({x}, {y}): run make_fixture.py again");
    (fixture, data)
}

/// Mean of -log N(y; mean, variance + noise).
fn nlpd(posterior: &Posterior, y: &[f64]) -> f64 {
    let row = |((mean, variance), y): ((&f64, &f64), &f64)| {
        let variance = variance + posterior.noise;
        0.5 * ((2.0 * std::f64::consts::PI * variance).ln() + (mean - y).powi(2) / variance)
    };
    posterior.mean.iter().zip(&posterior.variance).zip(y).map(row).sum::<f64>() / y.len() as f64
}

/// Neither a mean of y nor jitter: GPyTorch has none here.
fn config() -> SparseGpConfig {
    SparseGpConfig { jitter: 0.0, center: false, ..SparseGpConfig::default() }
}

fn at_their_hyperparameters(fixture: &Fixture, data: &Data) -> SparseGp {
    config().condition(fixture.hyperparameters(), data.x.as_ref(), &data.y).unwrap()
}

#[test]
fn bound_and_predictions_equal_those_of_gpytorch() {
    let (fixture, data) = both();
    let gp = at_their_hyperparameters(&fixture, &data);
    // Both sides compute in double precision; predictions are stored with 9 digits.
    let (ours, theirs) = (gp.log_evidence(), fixture.elbo);
    assert!((ours - theirs).abs() < 1e-8 * theirs.abs(), "bound {ours}, GPyTorch {theirs}");
    let posterior = gp.predict(data.x_test.as_ref());
    for (what, ours, theirs) in
        [("mean", &posterior.mean, &fixture.mean), ("variance", &posterior.variance, &fixture.var)]
    {
        assert_eq!(ours.len(), theirs.len());
        for (row, (a, b)) in ours.iter().zip(theirs).enumerate() {
            assert!((a - b).abs() < 1e-7 * b.abs().max(0.1), "{what} of row {row}: {a}, GPyTorch {b}");
        }
    }
    let ours = nlpd(&posterior, &data.y_test);
    assert!((ours - fixture.nlpd).abs() < 1e-6, "NLPD {ours}, GPyTorch {}", fixture.nlpd);
}

/// A density has the unit of 1 / y, so its logarithm moves by a constant when y changes its unit, may be 0 or negative, and
/// a percentage of it means nothing. What has a meaning is the ratio of densities: within 2 % is NLPD - NLPD' <= ln 1.02,
/// that is, the geometric mean of the densities that we gave to the held-out scores is not 2 % below GPyTorch's.
///
/// On both sides the mean over a few starts: one start differs from another by as much.
#[test]
fn our_own_fit_predicts_within_two_percent_of_gpytorch() {
    let (fixture, data) = both();
    // Like GPyTorch's fits: on all rows, and long.
    let (n_inducing, max_iterations) = (fixture.inducing.len(), 200);
    let config = SparseGpConfig { n_inducing, max_iterations, ..SparseGpConfig::default() };
    let fit = |seed| {
        let gp = config.fit(data.x.as_ref(), &data.y, seed).unwrap();
        println!("bound {:.1}; the best of GPyTorch {:.1}", gp.log_evidence(), fixture.elbo);
        nlpd(&gp.predict(data.x_test.as_ref()), &data.y_test)
    };
    let ours: Vec<f64> = (0..3).map(fit).collect();
    println!("NLPD {ours:.4?}, GPyTorch {:.4?}", fixture.nlpds);
    println!("by its own predictions {:.4?}, without correction {:.4?}", fixture.corrected, fixture.uncorrected);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let excess = mean(&ours) - mean(&fixture.nlpds);
    assert!(excess <= 1.02_f64.ln(), "NLPD {ours:?} is above GPyTorch's {:?} by {excess:.4}", fixture.nlpds);
}
