//! The Gaussian process that adds up what the nodes contribute.

use pace_search::surrogate::{
    AdditiveGpConfig, Kernel, Parts, Progress, SparseGpConfig, Surrogate, SurrogateConfig, SurrogateSettings,
};
use pace_search::{Error, Matrix};

use crate::surrogate_sample::{assert_close, cholesky, forward_solve, normal, normal_vec, rmse};

/// The hyperparameters at which a fit starts, by their definition: the length-scale of a term is the root of the median squared
/// distance over its columns; a share of the variance belongs to all columns, the rest to the nodes; the noise is a thousandth.
struct Start {
    kernel: Kernel,
    /// First column, end, length-scale and variance of each term.
    terms: Vec<(usize, usize, f64, f64)>,
}

const NOISE: f64 = 1e-3;

impl Start {
    fn of(config: &AdditiveGpConfig, x: &Matrix) -> Start {
        let AdditiveGpConfig { kernel, whole, .. } = *config;
        let widths = match &config.parts {
            Parts::Even(block) => vec![*block; x.ncols() / block],
            Parts::Widths(widths) => widths.clone(),
        };
        let n_parts = widths.len();
        let from = |part: usize| widths[..part].iter().sum::<usize>();
        let term = |from: usize, to: usize, variance: f64| {
            let pairs = (0..x.nrows()).flat_map(|i| (0..i).map(move |j| (i, j)));
            let mut squares: Vec<f64> = pairs.map(|(i, j)| squared(x, i, x, j, from..to)).collect();
            squares.sort_by(f64::total_cmp);
            let n = squares.len();
            (from, to, (0.5 * (squares[(n - 1) / 2] + squares[n / 2])).sqrt(), variance)
        };
        let nodes = (0..n_parts).map(|part| term(from(part), from(part + 1), (1.0 - whole) / n_parts as f64));
        Start { kernel, terms: [term(0, x.ncols(), whole)].into_iter().chain(nodes).collect() }
    }

    fn covariance(&self, x: &Matrix, z: &Matrix) -> Matrix {
        let shape = |r: f64| match self.kernel {
            Kernel::Rbf => (-0.5 * r * r).exp(),
            Kernel::Matern52 => {
                let a = 5.0_f64.sqrt() * r;
                (1.0 + a + a * a / 3.0) * (-a).exp()
            }
        };
        Matrix::from_fn(x.nrows(), z.nrows(), |i, j| {
            let term = |&(from, to, length, variance): &(usize, usize, f64, f64)| {
                variance * shape(squared(x, i, z, j, from..to).sqrt() / length)
            };
            self.terms.iter().map(term).sum()
        })
    }
}

fn squared(x: &Matrix, i: usize, z: &Matrix, j: usize, columns: std::ops::Range<usize>) -> f64 {
    columns.map(|column| (x[(i, column)] - z[(j, column)]).powi(2)).sum()
}

fn mean_std(y: &[f64]) -> (f64, f64) {
    let mean = y.iter().sum::<f64>() / y.len() as f64;
    (mean, (y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / y.len() as f64).sqrt())
}

#[test]
fn without_learning_the_posterior_is_that_of_dense_algebra() {
    let (x, at) = (normal(13, 6, 120), normal(9, 6, 121));
    let y: Vec<f64> = normal_vec(13, 122).iter().map(|y| 40.0 + 7.0 * y).collect();
    let default = AdditiveGpConfig::new(2).whole;
    let cases = [
        (Kernel::Rbf, Parts::Even(2), 0.2),
        (Kernel::Matern52, Parts::Even(2), default),
        (Kernel::Matern52, Parts::Even(6), 0.5),
        (Kernel::Rbf, Parts::Even(1), 0.1),
        (Kernel::Matern52, Parts::Widths(vec![1, 3, 2]), 0.1),
    ];
    for (kernel, parts, whole) in cases {
        let config = AdditiveGpConfig { kernel, parts, whole, max_iterations: 0, ..AdditiveGpConfig::new(2) };
        let start = Start::of(&config, &x);
        let mut k = start.covariance(&x, &x);
        (0..13).for_each(|i| k[(i, i)] += NOISE);
        let (l, (mean, std)) = (cholesky(&k), mean_std(&y));
        let white_y = forward_solve(&l, &y.iter().map(|y| (y - mean) / std).collect::<Vec<f64>>());
        let cross = start.covariance(&x, &at);
        let white: Vec<Vec<f64>> = (0..9).map(|j| forward_solve(&l, cross.col_as_slice(j))).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let means: Vec<f64> = white.iter().map(|white| mean + std * dot(white, &white_y)).collect();
        let variances: Vec<f64> = white.iter().map(|white| std * std * (1.0 - dot(white, white))).collect();
        let ours = config.fit(x.as_ref(), &y, 0).unwrap().predict(at.as_ref());
        assert_close(&ours.mean, &means, 1e-9);
        assert_close(&ours.variance, &variances, 1e-9);
        assert_close(&[ours.noise], &[std * std * NOISE], 1e-12);
    }
}

/// A sum over nodes of a function of three numbers each.
fn sum_over_nodes(x: &Matrix) -> Vec<f64> {
    let node =
        |i: usize, first: usize| (2.0 * x[(i, first)]).sin() * (1.0 + x[(i, first + 1)]) + x[(i, first + 2)].abs();
    (0..x.nrows()).map(|i| (0..x.ncols()).step_by(3).map(|first| node(i, first)).sum()).collect()
}

#[test]
fn a_sum_over_nodes_is_learnt_from_fewer_rows_than_a_sparse_gp_needs() {
    let at = normal(300, 12, 123);
    let truth = sum_over_nodes(&at);
    let (_, std) = mean_std(&truth);
    for seed in 0..3 {
        let x = normal(100, 12, 124 + seed);
        let y = sum_over_nodes(&x);
        let error = |surrogate: &dyn Surrogate| rmse(&surrogate.predict(at.as_ref()).mean, &truth) / std;
        let additive = error(&AdditiveGpConfig::new(3).fit(x.as_ref(), &y, 0).unwrap());
        for kernel in [Kernel::Rbf, Kernel::Matern52] {
            let sparse = SparseGpConfig { kernel, n_inducing: 100, ..SparseGpConfig::default() };
            let sparse = error(&sparse.fit(x.as_ref(), &y, 0).unwrap());
            assert!(additive < 0.8 * sparse, "errors of {additive} and, {kernel:?}, {sparse} standard deviations");
        }
    }
}

#[test]
fn learning_raises_the_evidence_and_reports_it() {
    let x = normal(80, 12, 127);
    let y = sum_over_nodes(&x);
    let mut seen: Vec<Progress> = Vec::new();
    let config = SurrogateConfig::AdditiveGp(AdditiveGpConfig { max_iterations: 10, ..AdditiveGpConfig::new(3) });
    config.fit_with(x.as_ref(), &y, 0, &mut |progress| seen.push(progress)).unwrap();
    assert!(seen.len() >= 3 && seen.len() <= 10);
    assert!(seen.windows(2).all(|pair| pair[1].objective >= pair[0].objective && pair[1].n_steps == 10), "{seen:?}");
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<SurrogateConfig>(&text).unwrap(), config, "{text}");
}

#[test]
fn a_refit_to_the_same_rows_is_the_fit() {
    let (x, at) = (normal(60, 6, 128), normal(300, 6, 129));
    let y = sum_over_nodes(&x);
    let gp = AdditiveGpConfig { max_rows: 50, ..AdditiveGpConfig::new(3) }.fit(x.as_ref(), &y, 1).unwrap();
    assert_eq!(gp.refit(x.as_ref(), &y).unwrap().unwrap().predict(at.as_ref()), gp.predict(at.as_ref()));
    // To others it is another belief, which knows them.
    let more = normal(50, 6, 130);
    let again = gp.refit(more.as_ref(), &sum_over_nodes(&more)).unwrap().unwrap().predict(more.as_ref());
    assert!(
        rmse(&again.mean, &sum_over_nodes(&more)) < 0.1 * rmse(&gp.predict(more.as_ref()).mean, &sum_over_nodes(&more))
    );
}

/// Covariances between rows that a posterior knows are not computed again: whatever it knew, the next one is the same.
#[test]
fn a_refit_does_not_depend_on_what_was_known() {
    let (x, more, at) = (normal(60, 6, 140), normal(40, 6, 141), normal(30, 6, 142));
    let y = sum_over_nodes(&x);
    let gp = AdditiveGpConfig { max_rows: 45, ..AdditiveGpConfig::new(3) }.fit(x.as_ref(), &y, 1).unwrap();
    // Every other row is new, and the limit drops some of both.
    let mixed = Matrix::from_fn(80, 6, |i, d| if i % 2 == 0 { x[(i / 2, d)] } else { more[(i / 2, d)] });
    let scores = sum_over_nodes(&mixed);
    let stranger = gp.refit(normal(20, 6, 143).as_ref(), &sum_over_nodes(&normal(20, 6, 143))).unwrap().unwrap();
    let [knowing, not] = [
        gp.refit(mixed.as_ref(), &scores).unwrap().unwrap().predict(at.as_ref()),
        stranger.refit(mixed.as_ref(), &scores).unwrap().unwrap().predict(at.as_ref()),
    ];
    assert_close(&knowing.mean, &not.mean, 1e-8);
    assert_close(&knowing.variance, &not.variance, 1e-8);
}

#[test]
fn the_worst_rows_are_dropped_beyond_the_limit() {
    let (x, at) = (normal(60, 6, 131), normal(20, 6, 132));
    let y = sum_over_nodes(&x);
    let mut ranked: Vec<usize> = (0..60).collect();
    ranked.sort_by(|&a, &b| y[b].total_cmp(&y[a]));
    let config = AdditiveGpConfig { max_rows: 25, max_iterations: 4, ..AdditiveGpConfig::new(3) };
    let limited = config.fit(x.as_ref(), &y, 2).unwrap();
    let kept = Matrix::from_fn(25, 6, |i, d| x[(ranked[i], d)]);
    let best: Vec<f64> = ranked[..25].iter().map(|&row| y[row]).collect();
    assert_eq!(limited.predict(at.as_ref()), config.fit(kept.as_ref(), &best, 2).unwrap().predict(at.as_ref()));
    // It is certain about those, and not about the others.
    let variance = limited.predict(x.as_ref()).variance;
    let certain = |rows: &[usize]| rows.iter().filter(|&&row| variance[row] < 1e-2 * variance[ranked[59]]).count();
    assert_eq!((certain(&ranked[..25]), certain(&ranked[25..])), (25, 0));
}

#[test]
fn hyperparameters_are_learnt_from_as_many_rows_as_allowed_and_a_seed_gives_one_fit() {
    let (x, at) = (normal(200, 6, 133), normal(20, 6, 134));
    let y = sum_over_nodes(&x);
    let fit = |learn_rows: usize, seed: u64| {
        let config = AdditiveGpConfig { learn_rows, max_iterations: 6, ..AdditiveGpConfig::new(3) };
        config.fit(x.as_ref(), &y, seed).unwrap().predict(at.as_ref())
    };
    assert_eq!(fit(40, 3), fit(40, 3));
    assert_ne!(fit(40, 3), fit(40, 4));
    // With all rows nothing is random.
    assert_eq!(fit(200, 3), fit(1000, 4));
    let (error, truth) = (rmse(&fit(40, 3).mean, &sum_over_nodes(&at)), mean_std(&sum_over_nodes(&at)).1);
    assert!(error < 0.5 * truth, "{error} of {truth}");
    assert_eq!(fit(1, 3).mean.len(), 20);
}

#[test]
fn one_row_constant_scores_constant_columns_and_duplicates_are_no_trouble() {
    let noise = normal(40, 6, 135);
    let columns = Matrix::from_fn(40, 6, |i, d| if (2..4).contains(&d) { 7.0 } else { noise[(i / 2, d)] });
    let wave: Vec<f64> = (0..40).map(|i| columns[(i, 0)].sin()).collect();
    let same = Matrix::from_fn(5, 6, |_, _| 2.0);
    let cases: [(&Matrix, Vec<f64>); 5] = [
        (&Matrix::from_fn(1, 6, |_, d| d as f64), vec![3.0]),
        (&columns, vec![2.5; 40]),
        (&columns, wave),
        (&same, vec![1.0; 5]),
        (&same, vec![1.0, 2.0, 3.0, 4.0, 5.0]),
    ];
    for (case, (x, y)) in cases.iter().enumerate() {
        for (kernel, block) in [(Kernel::Matern52, 2), (Kernel::Rbf, 6)] {
            let config = AdditiveGpConfig { kernel, ..AdditiveGpConfig::new(block) };
            let posterior = config.fit(x.as_ref(), y, 5).unwrap().predict(x.as_ref());
            assert!(posterior.variance.iter().all(|v| v.is_finite() && *v >= 0.0), "case {case}");
            // Equal vectors with different scores have their mean.
            let expected = if case == 4 { vec![3.0; 5] } else { y.clone() };
            assert_close(&posterior.mean, &expected, 0.05);
        }
    }
    let gp = AdditiveGpConfig::new(2).fit(columns.as_ref(), &vec![2.5; 40], 5).unwrap();
    assert!(gp.predict(Matrix::zeros(0, 6).as_ref()).mean.is_empty());
}

#[test]
fn bad_settings_are_named() {
    let (x, y) = (normal(10, 6, 136), normal_vec(10, 137));
    let good = AdditiveGpConfig::new(3);
    let cases = [
        ("parts", AdditiveGpConfig::new(0)),
        ("parts", AdditiveGpConfig::new(4)),
        ("parts", AdditiveGpConfig::new(12)),
        ("parts", AdditiveGpConfig { parts: Parts::Widths(vec![2, 3]), ..good.clone() }),
        ("parts", AdditiveGpConfig { parts: Parts::Widths(vec![6, 0]), ..good.clone() }),
        ("parts", AdditiveGpConfig { parts: Parts::Widths(Vec::new()), ..good.clone() }),
        ("noise", AdditiveGpConfig { noise: 0.0, ..good.clone() }),
        ("max_rows", AdditiveGpConfig { max_rows: 0, ..good.clone() }),
        ("learn_rows", AdditiveGpConfig { learn_rows: 0, ..good.clone() }),
        ("whole", AdditiveGpConfig { whole: 0.0, ..good.clone() }),
        ("whole", AdditiveGpConfig { whole: 1.0, ..good.clone() }),
        ("whole", AdditiveGpConfig { whole: f64::NAN, ..good.clone() }),
        ("prior", AdditiveGpConfig { prior: 0.0, ..good.clone() }),
        ("prior", AdditiveGpConfig { prior: f64::NAN, ..good.clone() }),
        ("prior", AdditiveGpConfig { prior: f64::INFINITY, ..good.clone() }),
    ];
    for (wanted, config) in cases {
        match config.fit(x.as_ref(), &y, 0) {
            Err(Error::BadSetting { name, .. }) => assert_eq!(name, wanted),
            other => panic!("{config:?}: {:?}", other.err()),
        }
    }
    assert!(matches!(good.fit(x.as_ref(), &y[..9], 0), Err(Error::TargetCount { rows: 10, targets: 9 })));
    assert!(good.fit(Matrix::zeros(0, 6).as_ref(), &[], 0).is_err());
}
