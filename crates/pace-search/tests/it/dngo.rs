//! DNGO: its regression against the definition, and whole fits.

use faer::Mat;
use pace_search::acquisition::{Acquisition, PublishedEi};
use pace_search::surrogate::{
    BayesianRegression, Dngo, DngoConfig, Evidence, Loss, Posterior, Surrogate, SurrogateConfig, SurrogateSettings,
};
use pace_search::{Error, Matrix};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::surrogate_sample::{assert_close, cholesky, forward_solve, normal, normal_vec, rmse};

/// log N(y; 0, Phi Phi^T / alpha + I / beta), entry by entry.
fn log_density(phi: &Matrix, y: &[f64], alpha: f64, beta: f64) -> f64 {
    let mut covariance = faer::Scale(1.0 / alpha) * (phi * phi.transpose());
    (0..y.len()).for_each(|i| covariance[(i, i)] += 1.0 / beta);
    let l = cholesky(&covariance);
    let square: f64 = forward_solve(&l, y).iter().map(|v| v * v).sum();
    let log_det: f64 = (0..y.len()).map(|i| 2.0 * l[(i, i)].ln()).sum();
    -0.5 * (square + log_det + y.len() as f64 * (2.0 * std::f64::consts::PI).ln())
}

fn fit(phi: &Matrix, y: &[f64], evidence: Evidence) -> BayesianRegression {
    BayesianRegression::fit(phi.as_ref(), y, evidence, &mut ChaCha8Rng::seed_from_u64(1)).unwrap()
}

#[test]
fn evidence_is_the_density_of_the_scores() {
    for (n, d) in [(30, 7), (7, 30), (12, 12)] {
        let (phi, y) = (normal(n, d, 60), normal_vec(n, 61));
        for (alpha, beta) in [(1.0, 1.0), (0.03, 50.0), (20.0, 0.4)] {
            let ours = BayesianRegression::new(phi.as_ref(), &y, alpha, beta).unwrap().log_evidence();
            assert_close(&[ours], &[log_density(&phi, &y, alpha, beta)], 1e-10);
        }
    }
}

#[test]
fn precisions_are_those_of_the_highest_evidence() {
    let (phi, weights, noise) = (normal(60, 9, 62), normal_vec(9, 63), normal_vec(60, 64));
    let y: Vec<f64> = (0..60).map(|i| (0..9).map(|d| phi[(i, d)] * weights[d]).sum::<f64>() + 0.1 * noise[i]).collect();
    let found = fit(&phi, &y, Evidence::Exact);
    // N(0, 1) weights, and noise of variance 0.01.
    assert!((found.alpha().ln()).abs() < 1.0, "{}", found.alpha());
    assert!((found.beta().ln() - 100.0_f64.ln()).abs() < 0.5, "{}", found.beta());
    let at = |by_alpha: f64, by_beta: f64| {
        log_density(&phi, &y, found.alpha() * by_alpha.exp(), found.beta() * by_beta.exp())
    };
    assert_close(&[found.log_evidence()], &[at(0.0, 0.0)], 1e-10);
    let step = 1e-3;
    for slope in [at(step, 0.0) - at(-step, 0.0), at(0.0, step) - at(0.0, -step)] {
        assert!((slope / (2.0 * step)).abs() < 1e-4, "not stationary: {slope}");
    }
    for by_alpha in -20..=20 {
        for by_beta in -20..=20 {
            assert!(at(0.5 * f64::from(by_alpha), 0.5 * f64::from(by_beta)) <= found.log_evidence() + 1e-9);
        }
    }
}

#[test]
fn regression_is_that_of_the_normal_equations() {
    let (phi, y, at) = (normal(25, 6, 65), normal_vec(25, 66), normal(4, 6, 67));
    let (alpha, beta) = (0.5, 8.0);
    let regression = BayesianRegression::new(phi.as_ref(), &y, alpha, beta).unwrap();
    let mut precision = faer::Scale(beta) * (phi.transpose() * &phi);
    (0..6).for_each(|d| precision[(d, d)] += alpha);
    let l = cholesky(&precision);
    let right: Vec<f64> = (0..6).map(|d| beta * (0..25).map(|i| phi[(i, d)] * y[i]).sum::<f64>()).collect();
    for i in 0..4 {
        let row: Vec<f64> = at.row(i).iter().copied().collect();
        let (white, white_right) = (forward_solve(&l, &row), forward_solve(&l, &right));
        let mean: f64 = white.iter().zip(&white_right).map(|(a, b)| a * b).sum();
        let variance: f64 = white.iter().map(|v| v * v).sum();
        let ours = regression.predict(&row);
        assert_close(&[ours.0, ours.1], &[mean, variance], 1e-10);
    }
}

#[test]
fn recovers_a_linear_function() {
    let (x, at) = (normal(120, 5, 68), normal(100, 5, 69));
    let line = |x: &Matrix| (0..x.nrows()).map(|i| 90.0 + 3.0 * x[(i, 0)] - 2.0 * x[(i, 3)]).collect::<Vec<f64>>();
    let posterior = DngoConfig::default().fit(x.as_ref(), &line(&x), 0).unwrap().predict(at.as_ref());
    let error = rmse(&posterior.mean, &line(&at));
    assert!(error < 0.1 * 13.0_f64.sqrt(), "{error}");
}

fn smooth(x: &Matrix) -> Vec<f64> {
    (0..x.nrows()).map(|i| (1.5 * x[(i, 0)]).sin() + 0.5 * x[(i, 1)] * x[(i, 1)] - 0.4 * x[(i, 2)]).collect()
}

#[test]
fn learns_a_smooth_function_and_knows_where_it_does_not() {
    let (x, at) = (normal(250, 3, 70), normal(200, 3, 71));
    let (y, truth) = (smooth(&x), smooth(&at));
    for (name, config, bound) in [
        ("squared", DngoConfig::default(), 0.15),
        ("ensemble", DngoConfig { ensemble: 3, ..DngoConfig::default() }, 0.12),
        ("ranking", DngoConfig { loss: Loss::Ranking, ..DngoConfig::default() }, 0.25),
        ("batches", DngoConfig { batch: Some(20), epochs: 40, ..DngoConfig::default() }, 0.15),
    ] {
        let dngo = config.fit(x.as_ref(), &y, 0).unwrap();
        let posterior = dngo.predict(at.as_ref());
        let error = rmse(&posterior.mean, &truth);
        assert!(error < bound, "{name}: {error}");
        let mean_sd = |posterior: &Posterior| {
            posterior.variance.iter().map(|variance| variance.sqrt()).sum::<f64>() / posterior.variance.len() as f64
        };
        let far = dngo.predict((faer::Scale(5.0) * &at).as_ref());
        let (near, far, seen) = (mean_sd(&posterior), mean_sd(&far), mean_sd(&dngo.predict(x.as_ref())));
        assert!(seen < near && 1.5 * near < far, "{name}: seen {seen}, near {near}, far {far}");
    }
}

#[test]
fn rows_held_out_keep_a_network_from_being_too_sure() {
    // Half of the scores is noise, which a network of this size learns by heart.
    let (x, at) = (normal(60, 10, 87), normal(400, 10, 88));
    let score = |x: &Matrix, seed: u64| {
        let noise = normal_vec(x.nrows(), seed);
        (0..x.nrows()).map(|i| x[(i, 0)] + noise[i]).collect::<Vec<f64>>()
    };
    let (y, truth) = (score(&x, 89), score(&at, 90));
    let surprise = |evidence: Evidence| {
        let config = DngoConfig { evidence, epochs: 300, learning_rate: 3e-3, ..DngoConfig::default() };
        let posterior = config.fit(x.as_ref(), &y, 0).unwrap().predict(at.as_ref());
        let one = |i: usize| (posterior.mean[i] - truth[i]).powi(2) / (posterior.variance[i] + posterior.noise);
        (0..400).map(one).sum::<f64>() / 400.0
    };
    // 1 is right.
    let (exact, held_out) = (surprise(Evidence::Exact), surprise(Evidence::CrossValidated { folds: 5 }));
    assert!((0.4..2.5).contains(&held_out), "{held_out}");
    assert!(exact > 3.0 * held_out, "exact {exact}, cross-validated {held_out}");
}

#[test]
fn shift_and_scale_of_scores_and_vectors_do_not_matter() {
    let (x, y, at) = (normal(60, 4, 72), normal_vec(60, 73), normal(20, 4, 74));
    let plain = DngoConfig::default().fit(x.as_ref(), &y, 3).unwrap().predict(at.as_ref());
    let move_x = |x: &Matrix| Matrix::from_fn(x.nrows(), 4, |i, d| 16.0 * x[(i, d)]);
    let moved_y: Vec<f64> = y.iter().map(|y| 0.25 * y + 8.0).collect();
    let moved = DngoConfig::default().fit(move_x(&x).as_ref(), &moved_y, 3).unwrap().predict(move_x(&at).as_ref());
    let mean: Vec<f64> = plain.mean.iter().map(|mean| 0.25 * mean + 8.0).collect();
    let variance: Vec<f64> = plain.variance.iter().map(|variance| variance / 16.0).collect();
    assert_close(&moved.mean, &mean, 1e-3);
    assert_close(&moved.variance, &variance, 1e-3);
    assert_close(&[moved.noise], &[plain.noise / 16.0], 1e-3);
}

#[test]
fn one_seed_gives_one_fit_on_any_number_of_threads() {
    let (x, y, at) = (normal(50, 4, 75), normal_vec(50, 76), normal(1500, 4, 77));
    let config = DngoConfig { ensemble: 3, epochs: 20, batch: Some(15), ..DngoConfig::default() };
    let on = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| config.fit(x.as_ref(), &y, seed).unwrap().predict(at.as_ref()))
    };
    let first = on(1, 5);
    assert_eq!(first, on(1, 5));
    assert_eq!(first, on(3, 5));
    assert_ne!(first, on(1, 6));
}

#[test]
fn single_precision_rows_give_the_same_belief() {
    let (x, y) = (normal(50, 4, 78), normal_vec(50, 79));
    let pool = Mat::<f32>::from_fn(700, 4, |i, d| ((i * 7 + d * 3) % 13) as f32 / 5.0);
    let wide = Matrix::from_fn(700, 4, |i, d| f64::from(pool[(i, d)]));
    for config in [SurrogateConfig::Dngo(DngoConfig::default()), SurrogateConfig::SparseGp(Default::default())] {
        let surrogate = config.fit(x.as_ref(), &y, 0).unwrap();
        assert_eq!(surrogate.predict_f32(pool.as_ref()), surrogate.predict(wide.as_ref()));
        let none = surrogate.predict_f32(pool.subrows(0, 0));
        assert!(none.mean.is_empty() && none.noise > 0.0);
    }
}

#[test]
fn published_variant_runs_and_its_acquisition_is_the_variance() {
    let x = normal(100, 8, 81);
    let y: Vec<f64> = (0..100).map(|i| 0.9 + 0.02 * x[(i, 0)].sin() + 0.01 * x[(i, 1)]).collect();
    let dngo = DngoConfig::published().fit(x.as_ref(), &y, 0).unwrap();
    let regression = dngo.regressions().next().unwrap();
    for log in [regression.alpha().ln(), regression.beta().ln()] {
        assert!((-10.0..=10.0).contains(&log), "{log}");
    }
    let posterior = dngo.predict(normal(300, 8, 82).as_ref());
    assert!(posterior.mean.iter().all(|mean| (0.5..1.3).contains(mean)));
    // The larger the gap to 1 in units of the variance, the closer the score to the variance.
    let scores = PublishedEi::default().score(&posterior, 0.95);
    for (i, score) in scores.iter().enumerate().filter(|(i, _)| posterior.mean[*i] < 0.99) {
        let v = posterior.variance[i] + posterior.noise;
        if (1.0 - posterior.mean[i]) / v > 4.0 {
            assert!((score - v).abs() < 1e-4 * v, "{score} is not {v}");
        }
    }
    assert_eq!(posterior, DngoConfig::published().fit(x.as_ref(), &y, 0).unwrap().predict(normal(300, 8, 82).as_ref()));
}

#[test]
fn constant_columns_constant_scores_and_few_rows_are_no_trouble() {
    let noise = normal(30, 1, 83);
    let x = Matrix::from_fn(30, 3, |i, d| if d == 1 { 7.0 } else { noise[(i / 3, 0)] });
    let sound = |posterior: &Posterior| {
        assert!(posterior.mean.iter().all(|mean| mean.is_finite()));
        assert!(posterior.variance.iter().all(|variance| variance.is_finite() && *variance >= 0.0));
        assert!(posterior.noise.is_finite() && posterior.noise > 0.0);
    };
    for config in [DngoConfig::default(), DngoConfig { loss: Loss::Ranking, ..DngoConfig::default() }] {
        let posterior = config.fit(x.as_ref(), &[2.5; 30], 0).unwrap().predict(x.as_ref());
        sound(&posterior);
        assert_close(&posterior.mean, &[2.5; 30], 1e-3);
        sound(&config.fit(x.as_ref(), &normal_vec(30, 84), 0).unwrap().predict(x.as_ref()));
        sound(&config.fit(x.subrows(0, 1), &[4.0], 0).unwrap().predict(x.as_ref()));
        sound(&config.fit(x.subrows(0, 2), &[4.0, 5.0], 0).unwrap().predict(x.as_ref()));
    }
    let published = DngoConfig::published();
    sound(&published.fit(x.as_ref(), &[0.9; 30], 0).unwrap().predict(x.as_ref()));
    sound(&published.fit(x.subrows(0, 4), &[0.9, 0.8, 0.85, 0.8], 0).unwrap().predict(x.as_ref()));
}

#[test]
fn bad_settings_and_data_are_named() {
    let (x, y) = (normal(10, 2, 85), normal_vec(10, 86));
    let fit = |config: DngoConfig| -> Result<Dngo, Error> { config.fit(x.as_ref(), &y, 0) };
    let zero = |name: &'static str, config: DngoConfig| match fit(config).unwrap_err() {
        Error::BadSetting { name: found, .. } => assert_eq!(found, name),
        other => panic!("{other}"),
    };
    zero("width", DngoConfig { width: 0, ..DngoConfig::default() });
    zero("depth", DngoConfig { depth: 0, ..DngoConfig::default() });
    zero("batch", DngoConfig { batch: Some(0), ..DngoConfig::default() });
    zero("ensemble", DngoConfig { ensemble: 0, ..DngoConfig::default() });
    let evidence = Evidence::CrossValidated { folds: 1 };
    zero("folds", DngoConfig { evidence, ..DngoConfig::default() });
    zero("learning_rate", DngoConfig { learning_rate: f64::NAN, ..DngoConfig::default() });
    let wild = DngoConfig { learning_rate: 1e30, ..DngoConfig::default() };
    let message = fit(wild).map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("diverges at step"), "{message}");
    let text = serde_json::to_string(&SurrogateConfig::Dngo(DngoConfig::published())).unwrap();
    assert_eq!(serde_json::from_str::<SurrogateConfig>(&text).unwrap(), SurrogateConfig::Dngo(DngoConfig::published()));
}
