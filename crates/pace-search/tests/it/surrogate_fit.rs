//! Fits of the sparse Gaussian process.

use pace_search::surrogate::{
    Bound, Hyperparameters, InducingInit, Kernel, LengthScaleInit, Metric, Progress, PublishedGpConfig, SparseGpConfig,
    Surrogate, SurrogateConfig, SurrogateSettings,
};
use pace_search::{Error, Matrix};

use crate::surrogate_sample::{assert_close, draw, exact, normal, normal_vec, rmse};

fn small() -> SparseGpConfig {
    SparseGpConfig { n_inducing: 25, max_iterations: 30, ..SparseGpConfig::default() }
}

#[test]
fn all_points_inducing_gives_the_exact_posterior() {
    let (x, y, at) = (normal(140, 6, 20), normal_vec(140, 21), normal(20, 6, 22));
    for bound in [Bound::Vfe, Bound::Fitc] {
        for (kernel, learn_inducing) in [(Kernel::Rbf, false), (Kernel::Matern52, false)] {
            let config = SparseGpConfig {
                kernel,
                bound,
                n_inducing: 140,
                inducing_init: InducingInit::Random,
                learn_inducing,
                max_iterations: 3,
                jitter: 1e-9,
                center: false,
                ..SparseGpConfig::default()
            };
            let gp = config.fit(x.as_ref(), &y, 0).unwrap();
            let exact = exact(kernel, &gp.hyperparameters(), &x, &y, &at);
            let ours = gp.predict(at.as_ref());
            assert_close(&ours.mean, &exact.mean, 1e-5);
            assert_close(&ours.variance, &exact.variance, 1e-5);
            assert_close(&[gp.log_evidence()], &[exact.log_evidence], 1e-5);
        }
    }
}

#[test]
fn finds_the_dimensions_that_matter() {
    let x = normal(600, 4, 23);
    let log_lengths = vec![0.0, 0.7, 4.0, 4.0];
    let truth = Hyperparameters { map: None, log_lengths, log_variance: 0.0, log_noise: -4.0, inducing: x.clone() };
    let y = draw(Kernel::Rbf, &truth, &x, 24);
    for bound in [Bound::Vfe, Bound::Fitc] {
        let config = SparseGpConfig { bound, n_inducing: 80, max_iterations: 80, ..SparseGpConfig::default() };
        let gp = config.fit(x.as_ref(), &y, 1).unwrap();
        let found = gp.hyperparameters();
        assert!(found.log_lengths[0].abs() < 0.4, "{bound:?}: {:?}", found.log_lengths);
        assert!((found.log_lengths[1] - 0.7).abs() < 0.4, "{bound:?}: {:?}", found.log_lengths);
        assert!(found.log_lengths[2..].iter().all(|&log| log > 1.8), "{bound:?}: {:?}", found.log_lengths);
        assert!((found.log_noise - -4.0).abs() < 0.7, "{bound:?}: {}", found.log_noise);
    }
}

#[test]
fn a_learnt_map_undoes_a_rotation() {
    // One direction matters, and it is none of the axes.
    let x = normal(700, 6, 33);
    let y: Vec<f64> = (0..x.nrows()).map(|i| (0..6).map(|d| x[(i, d)]).sum::<f64>().sin()).collect();
    let (fit, test) = (x.subrows(0, 500), x.subrows(500, 200));
    let error = |metric| {
        let config = SparseGpConfig { metric, n_inducing: 60, max_iterations: 100, ..SparseGpConfig::default() };
        let mean = config.fit(fit, &y[..500], 1).unwrap().predict(test).mean;
        mean.iter().zip(&y[500..]).map(|(mean, y)| (mean - y) * (mean - y)).sum::<f64>() / 200.0
    };
    let (ard, linear) = (error(Metric::Ard), error(Metric::Linear));
    assert!(linear < 0.02 && linear < 0.2 * ard, "mean squared errors: ARD {ard}, linear {linear}");
}

#[test]
fn learns_from_a_subset_and_conditions_on_all_rows() {
    let x = normal(1500, 3, 25);
    let y: Vec<f64> = (0..1500).map(|i| x[(i, 0)].sin() + 0.5 * x[(i, 1)]).collect();
    let at = normal(200, 3, 26);
    let truth: Vec<f64> = (0..200).map(|i| at[(i, 0)].sin() + 0.5 * at[(i, 1)]).collect();
    let error =
        |config: SparseGpConfig| rmse(&config.fit(x.as_ref(), &y, 2).unwrap().predict(at.as_ref()).mean, &truth);
    assert!(error(small()) < 0.05);
    assert!(error(SparseGpConfig { subset: Some(300), ..small() }) < 0.05);
    assert!(error(SparseGpConfig { subset: Some(300), refine_iterations: 5, ..small() }) < 0.05);
    assert!(error(SparseGpConfig { subset: Some(300), bound: Bound::Fitc, ..small() }) < 0.05);
}

#[test]
fn one_seed_gives_one_fit() {
    let (x, y, at) = (normal(700, 3, 27), normal_vec(700, 28), normal(30, 3, 29));
    let config = SparseGpConfig { subset: Some(400), max_iterations: 5, ..small() };
    let fit = |seed| config.fit(x.as_ref(), &y, seed).unwrap().predict(at.as_ref());
    assert_eq!(fit(3), fit(3));
    assert_ne!(fit(3), fit(4));
}

#[test]
fn conditioning_on_what_a_fit_learnt_gives_the_fit_again() {
    let (x, y, at) = (normal(300, 3, 39), normal_vec(300, 40), normal(30, 3, 41));
    for (metric, bound) in [(Metric::Ard, Bound::Vfe), (Metric::Linear, Bound::Vfe), (Metric::Ard, Bound::Fitc)] {
        let config = SparseGpConfig { metric, bound, subset: Some(200), max_iterations: 5, ..small() };
        let fitted = config.fit(x.as_ref(), &y, 1).unwrap();
        let again = config.condition(fitted.hyperparameters(), x.as_ref(), &y).unwrap();
        let (one, other) = (fitted.predict(at.as_ref()), again.predict(at.as_ref()));
        assert_close(&other.mean, &one.mean, 1e-8);
        assert_close(&other.variance, &one.variance, 1e-8);
        assert_close(&[again.log_evidence()], &[fitted.log_evidence()], 1e-8);
    }
}

#[test]
fn progress_rises() {
    let (x, y) = (normal(300, 2, 30), normal_vec(300, 31));
    let mut seen: Vec<Progress> = Vec::new();
    let config = SurrogateConfig::SparseGp(SparseGpConfig { tolerance: 0.0, max_iterations: 8, ..small() });
    config.fit_with(x.as_ref(), &y, 0, &mut |progress| seen.push(progress)).unwrap();
    assert!(!seen.is_empty() && seen.len() <= 8);
    assert!(seen.iter().enumerate().all(|(i, progress)| progress.step == i + 1 && progress.n_steps == 8));
    assert!(seen.windows(2).all(|pair| pair[1].objective >= pair[0].objective), "{seen:?}");
}

#[test]
fn constant_columns_duplicates_and_constant_scores_are_no_trouble() {
    let noise = normal(200, 1, 32);
    let x = Matrix::from_fn(200, 3, |i, d| if d == 1 { 7.0 } else { noise[(i / 4, 0)] * (d + 1) as f64 });
    let wave: Vec<f64> = (0..200).map(|i| x[(i, 0)].sin()).collect();
    for (y, expected) in [(wave, None), (vec![2.5; 200], Some(2.5))] {
        for length_init in [LengthScaleInit::PerDimension, LengthScaleInit::Common] {
            for inducing_init in [InducingInit::Spread, InducingInit::Random] {
                let config = SparseGpConfig { n_inducing: 120, length_init, inducing_init, ..small() };
                let posterior = config.fit(x.as_ref(), &y, 5).unwrap().predict(x.as_ref());
                let expected = expected.map_or(y.clone(), |value| vec![value; 200]);
                assert_close(&posterior.mean, &expected, 0.05);
                assert!(posterior.variance.iter().all(|v| v.is_finite() && *v >= 0.0));
            }
        }
    }
}

#[test]
fn one_row_and_more_inducing_points_than_rows() {
    let posterior = small().fit(Matrix::zeros(1, 2).as_ref(), &[3.0], 0).unwrap().predict(Matrix::zeros(1, 2).as_ref());
    assert_close(&posterior.mean, &[3.0], 1e-6);
    let (x, y) = (normal(10, 2, 33), normal_vec(10, 34));
    let gp = SparseGpConfig { n_inducing: 1000, ..small() }.fit(x.as_ref(), &y, 0).unwrap();
    assert_eq!(gp.hyperparameters().inducing.nrows(), 10);
    assert!(gp.predict(Matrix::zeros(0, 2).as_ref()).mean.is_empty());
}

#[test]
fn bad_data_is_named() {
    let (mut x, mut y) = (normal(10, 3, 35), normal_vec(10, 36));
    let message = |x: &Matrix, y: &[f64]| small().fit(x.as_ref(), y, 0).unwrap_err().to_string();
    assert!(message(&Matrix::zeros(0, 3), &[]).starts_with("0 rows of 3 columns"));
    assert!(message(&Matrix::zeros(3, 0), &[0.0; 3]).starts_with("3 rows of 0 columns"));
    assert!(message(&x, &y[..9]).starts_with("10 vectors but 9 targets"));
    y[4] = f64::INFINITY;
    assert!(message(&x, &y).starts_with("the target of row 4 is inf"));
    x[(6, 2)] = f64::NAN;
    assert!(message(&x, &y).starts_with("the vector in row 6 holds NaN in column 2"));
    let config = SparseGpConfig { n_inducing: 0, ..small() };
    assert!(matches!(config.fit(x.as_ref(), &y, 0), Err(Error::BadSetting { name: "n_inducing", .. })));
}

#[test]
fn a_failed_factorisation_names_its_pivot() {
    let (x, y) = (normal(10, 2, 37), normal_vec(10, 38));
    let inducing = Matrix::from_fn(3, 2, |_, _| f64::NAN);
    let hyper = Hyperparameters { map: None, log_lengths: vec![0.0; 2], log_variance: 0.0, log_noise: 0.0, inducing };
    let error = Bound::Vfe.evaluate(Kernel::Rbf, &hyper, x.as_ref(), &y, 1e-6).unwrap_err();
    assert!(error.to_string().contains("fails at pivot"), "{error}");
}

#[test]
fn configs_survive_json() {
    let published = SurrogateConfig::PublishedGp(PublishedGpConfig::default());
    for config in [SurrogateConfig::SparseGp(SparseGpConfig::quick()), published] {
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<SurrogateConfig>(&text).unwrap(), config, "{text}");
    }
}

/// Squares of such numbers overflow. The error says where they are.
#[test]
fn numbers_too_large_to_square_are_named() {
    let (mut x, mut y) = (normal(40, 3, 71), normal_vec(40, 72));
    x[(7, 2)] = 1e308;
    let error = small().fit(x.as_ref(), &y, 0).unwrap_err();
    assert!(matches!(error, Error::HugeVector { row: 7, column: 2, .. }), "{error}");
    assert!(error.to_string().contains("scale the column"), "{error}");
    let error = PublishedGpConfig::default().fit(x.as_ref(), &y, 0).unwrap_err();
    assert!(matches!(error, Error::HugeVector { .. }), "{error}");
    x[(7, 2)] = 0.0;
    y[3] = -1e200;
    assert!(matches!(small().fit(x.as_ref(), &y, 0).unwrap_err(), Error::HugeTarget { row: 3, .. }));
    // The largest that are allowed are computed with.
    y[3] = 0.0;
    (0..40).for_each(|row| x[(row, 1)] *= 1e100 / 4.0);
    let posterior = small().fit(x.as_ref(), &y, 0).unwrap().predict(x.as_ref());
    assert!(posterior.mean.iter().chain(&posterior.variance).all(|value| value.is_finite()));
}
