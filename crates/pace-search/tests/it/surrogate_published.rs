//! The published Gaussian process: its energy against the formulas of the published code, and its gradient.

use pace_search::Matrix;
use pace_search::surrogate::{PublishedGp, PublishedGpConfig, PublishedParameters, Surrogate, SurrogateSettings};

use crate::surrogate_sample::{assert_close, cholesky, forward_solve, normal, normal_vec, rmse};

fn params(m: usize, n_dims: usize) -> PublishedParameters {
    PublishedParameters {
        log_squared_lengths: (0..n_dims).map(|d| 0.5 + 0.3 * d as f64).collect(),
        log_variance: 0.2,
        log_noise: -0.7,
        inducing: normal(m, n_dims, 40),
        mean: normal_vec(m, 41),
        factor: normal(m, m, 42),
    }
}

/// A^-1 and log |A|.
fn inverse(a: &Matrix) -> (Matrix, f64) {
    let (n, l) = (a.nrows(), cholesky(a));
    let columns: Vec<Vec<f64>> =
        (0..n).map(|j| forward_solve(&l, &(0..n).map(|i| f64::from(u8::from(i == j))).collect::<Vec<f64>>())).collect();
    let entry = |i: usize, j: usize| columns[i].iter().zip(&columns[j]).map(|(a, b)| a * b).sum();
    (Matrix::from_fn(n, n, entry), (0..n).map(|i| 2.0 * l[(i, i)].ln()).sum())
}

fn kernel(params: &PublishedParameters, x: &Matrix, z: &Matrix) -> Matrix {
    Matrix::from_fn(x.nrows(), z.nrows(), |i, j| {
        let r2: f64 =
            (0..x.ncols()).map(|d| (x[(i, d)] - z[(j, d)]).powi(2) / params.log_squared_lengths[d].exp()).sum();
        params.log_variance.exp() * (-0.5 * r2).exp()
    })
}

/// The published model, step by step as it is described.
struct Reference {
    log_z: f64,
    log_z_prior: f64,
    mean: Vec<f64>,
    variance: Vec<f64>,
}

fn reference(params: &PublishedParameters, c: f64, at: &Matrix) -> Reference {
    let m = params.mean.len();
    let mut kzz = kernel(params, &params.inducing, &params.inducing);
    (0..m).for_each(|j| kzz[(j, j)] += 1e-3 * params.log_variance.exp());
    let (kzz_inverse, log_det_kzz) = inverse(&kzz);
    let precision = &kzz_inverse + c * (&params.factor * params.factor.transpose());
    let (cov, log_det_precision) = inverse(&precision);
    let natural = Matrix::from_fn(m, 1, |j, _| c * params.mean[j]);
    let mu = &cov * &natural;
    let constant = 0.5 * m as f64 * (2.0 * std::f64::consts::PI).ln();
    let square = (mu.transpose() * &natural)[(0, 0)];
    let kxz = kernel(params, at, &params.inducing);
    let mean = &kxz * &kzz_inverse * &mu;
    let middle = &kzz_inverse * &cov * &kzz_inverse - &kzz_inverse;
    let spread = &kxz * &middle * kxz.transpose();
    Reference {
        log_z: constant - 0.5 * log_det_precision + 0.5 * square,
        log_z_prior: constant + 0.5 * log_det_kzz,
        mean: mean.col_as_slice(0).to_vec(),
        variance: (0..at.nrows()).map(|i| (params.log_variance.exp() + spread[(i, i)]).abs()).collect(),
    }
}

#[test]
fn energy_and_prediction_follow_the_published_formulas() {
    let (params, x, y, n) = (params(100, 3), normal(20, 3, 43), normal_vec(20, 44), 50);
    let cavity = reference(&params, 49.0 / 50.0, &x);
    let posterior = reference(&params, 1.0, &x);
    let mut expected =
        20.0 * (cavity.log_z - posterior.log_z + (posterior.log_z - posterior.log_z_prior) / f64::from(n));
    for ((mean, variance), y) in cavity.mean.iter().zip(&cavity.variance).zip(&y) {
        let variance = variance + params.log_noise.exp();
        expected -= 0.5 * ((2.0 * std::f64::consts::PI * variance).ln() + (y - mean).powi(2) / variance);
    }
    let ours = params.energy(x.as_ref(), &y, 50).unwrap().value;
    assert_close(&[ours], &[expected], 1e-8);
    let predicted = PublishedGp::new(params.clone()).unwrap().predict(x.as_ref());
    assert_close(&predicted.mean, &posterior.mean, 1e-8);
    assert_close(&predicted.variance, &posterior.variance, 1e-8);
    assert_eq!(predicted.noise, params.log_noise.exp());
}

#[test]
fn gradient_equals_finite_differences() {
    // More rows than a block.
    let (start, x, y) = (params(5, 2), normal(300, 2, 45), normal_vec(300, 46));
    let at = |params: &PublishedParameters| params.energy(x.as_ref(), &y, 700).unwrap();
    let gradient = at(&start).gradient;
    let check = |name: &str, change: &dyn Fn(&mut PublishedParameters, f64), ours: f64| {
        let step = 1e-5;
        let value = |sign: f64| {
            let mut params = start.clone();
            change(&mut params, sign * step);
            at(&params).value
        };
        let numeric = (value(1.0) - value(-1.0)) / (2.0 * step);
        assert!((ours - numeric).abs() < 1e-5 * numeric.abs().max(1.0), "by {name}: {ours}, by differences {numeric}");
    };
    check("log variance", &|params, by| params.log_variance += by, gradient.log_variance);
    check("log noise", &|params, by| params.log_noise += by, gradient.log_noise);
    for d in 0..2 {
        let by_length = gradient.log_squared_lengths[d];
        check("log length", &|params, by| params.log_squared_lengths[d] += by, by_length);
    }
    for j in 0..5 {
        check("mean", &|params, by| params.mean[j] += by, gradient.mean[j]);
        for d in 0..2 {
            check("inducing", &|params, by| params.inducing[(j, d)] += by, gradient.inducing[(j, d)]);
        }
        for i in 0..5 {
            check("factor", &|params, by| params.factor[(i, j)] += by, gradient.factor[(i, j)]);
        }
    }
}

#[test]
fn gradient_holds_along_a_line_with_many_inducing_points() {
    let (x, y, start) = (normal(300, 3, 50), normal_vec(300, 51), params(150, 3));
    let (points, mean, factor) = (normal(150, 3, 52), normal_vec(150, 53), normal(150, 150, 54));
    let at = |step: f64| {
        let mut params = start.clone();
        params.log_squared_lengths.iter_mut().for_each(|log| *log += step);
        params.log_variance -= step;
        params.log_noise += step;
        params.inducing += faer::Scale(step) * &points;
        params.mean.iter_mut().zip(&mean).for_each(|(m, by)| *m += step * by);
        params.factor += faer::Scale(step) * &factor;
        params.energy(x.as_ref(), &y, 2000).unwrap()
    };
    let gradient = at(0.0).gradient;
    let inner = |a: &Matrix, b: &Matrix| (0..a.ncols()).map(|j| a.col(j).transpose() * b.col(j)).sum::<f64>();
    let ours = gradient.log_squared_lengths.iter().sum::<f64>() - gradient.log_variance
        + gradient.log_noise
        + inner(&gradient.inducing, &points)
        + gradient.mean.iter().zip(&mean).map(|(a, b)| a * b).sum::<f64>()
        + inner(&gradient.factor, &factor);
    let numeric = (at(1e-6).value - at(-1e-6).value) / 2e-6;
    assert!((ours - numeric).abs() < 1e-4 * numeric.abs(), "{ours}, by differences {numeric}");
}

#[test]
fn fit_learns_and_repeats() {
    let x = normal(400, 2, 47);
    let y: Vec<f64> = (0..400).map(|i| x[(i, 0)].sin() + 0.3 * x[(i, 1)]).collect();
    let config = PublishedGpConfig {
        n_inducing: 20,
        batch: 90,
        epochs: 60,
        learning_rate: 0.02,
        ..PublishedGpConfig::default()
    };
    let mut steps = Vec::new();
    let gp = config.fit_with(x.as_ref(), &y, 3, &mut |progress| steps.push(progress)).unwrap();
    assert_eq!((steps.len(), steps[0].n_steps), (60 * 5, 60 * 5));
    assert!(steps[299].objective > steps[0].objective + 0.5, "{:?} {:?}", steps[0], steps[299]);
    let posterior = gp.predict(x.as_ref());
    assert!(rmse(&posterior.mean, &y) < 0.2, "{}", rmse(&posterior.mean, &y));
    assert_eq!(posterior, config.fit(x.as_ref(), &y, 3).unwrap().predict(x.as_ref()));
    assert!(PublishedGpConfig { batch: 0, ..config }.fit(x.as_ref(), &y, 3).is_err());
}

#[test]
fn fewer_rows_than_inducing_points() {
    let (x, y) = (normal(4, 2, 48), normal_vec(4, 49));
    let gp = PublishedGpConfig { epochs: 2, ..PublishedGpConfig::default() }.fit(x.as_ref(), &y, 0).unwrap();
    assert_eq!(gp.parameters().inducing.nrows(), 4);
}
