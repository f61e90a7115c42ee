//! Fantasies and gradients of the belief.

use faer::MatRef;
use pace_search::Matrix;
use pace_search::surrogate::{
    AdditiveGpConfig, BayesianRegression, Bound, DngoConfig, InducingInit, Kernel, Metric, PublishedGpConfig,
    SparseGpConfig, Surrogate, SurrogateSettings,
};

use crate::surrogate_sample::{assert_close, exact, normal, normal_vec};

/// The rows of a above those of b.
fn stack(a: &Matrix, b: &Matrix) -> Matrix {
    Matrix::from_fn(
        a.nrows() + b.nrows(),
        a.ncols(),
        |i, d| {
            if i < a.nrows() { a[(i, d)] } else { b[(i - a.nrows(), d)] }
        },
    )
}

#[test]
fn a_fantasy_of_the_regression_is_a_refit() {
    let (phi, y, more, at) = (normal(20, 30, 90), normal_vec(20, 91), normal(4, 30, 92), normal(6, 30, 93));
    let row = |x: &Matrix, i: usize| x.row(i).iter().copied().collect::<Vec<f64>>();
    let regression = BayesianRegression::new(phi.as_ref(), &y, 0.7, 40.0).unwrap();
    for shift in [0.0, 1.0] {
        let values: Vec<f64> = (0..4).map(|i| regression.predict(&row(&more, i)).0 + shift).collect();
        let fantasy = regression.observe(more.as_ref(), &values);
        let all = [y.as_slice(), values.as_slice()].concat();
        let refit = BayesianRegression::new(stack(&phi, &more).as_ref(), &all, 0.7, 40.0).unwrap();
        for i in 0..6 {
            let (ours, theirs) = (fantasy.predict(&row(&at, i)), refit.predict(&row(&at, i)));
            assert_close(&[ours.0, ours.1], &[theirs.0, theirs.1], 1e-9);
        }
    }
}

/// The mean stays. The variance falls everywhere, and at a fantasy to at most the noise. A second fantasy lowers it again.
fn check_believer(surrogate: &dyn Surrogate, x: &Matrix, at: &Matrix, tolerance: f64) {
    let (before, asked) = (surrogate.predict(at.as_ref()), surrogate.predict(x.as_ref()));
    let both = surrogate.fantasise(x.as_ref());
    let after = both.predict(at.as_ref());
    assert_close(&after.mean, &before.mean, tolerance);
    assert_eq!(after.noise, before.noise);
    let scale = before.variance.iter().copied().fold(0.0, f64::max);
    assert!(after.variance.iter().zip(&before.variance).all(|(after, before)| *after <= before + tolerance * scale));
    assert!(after.variance.iter().sum::<f64>() < before.variance.iter().sum::<f64>());
    let there = both.predict(x.as_ref());
    for (after, before) in there.variance.iter().zip(&asked.variance) {
        // An observation with noise v leaves at most c v / (c + v) of a variance c.
        let bound = before * asked.noise / (before + asked.noise);
        assert!(*after <= bound + tolerance * scale, "{after} after {before} with noise {}", asked.noise);
    }
    let first = surrogate.fantasise(x.subrows(0, 1));
    let second = first.fantasise(x.subrows(1, x.nrows() - 1)).predict(at.as_ref());
    for (one, other) in second.variance.iter().zip(&after.variance) {
        assert!((one - other).abs() <= tolerance * scale, "{one} one by one, {other} at once");
    }
    assert_eq!(surrogate.fantasise(x.subrows(0, 0)).predict(at.as_ref()), before);
}

#[test]
fn every_surrogate_believes() {
    let (x, y) = (normal(80, 3, 94), normal_vec(80, 95));
    let (more, at) = (normal(5, 3, 96), normal(40, 3, 97));
    let sparse = SparseGpConfig { n_inducing: 25, max_iterations: 10, ..SparseGpConfig::default() };
    check_believer(&sparse.fit(x.as_ref(), &y, 0).unwrap(), &more, &at, 1e-9);
    let linear = SparseGpConfig { metric: Metric::Linear, ..sparse };
    check_believer(&linear.fit(x.as_ref(), &y, 0).unwrap(), &more, &at, 1e-9);
    let published = PublishedGpConfig { n_inducing: 20, epochs: 5, ..PublishedGpConfig::default() };
    check_believer(&published.fit(x.as_ref(), &y, 0).unwrap(), &more, &at, 1e-9);
    for block in [1, 3] {
        let additive = AdditiveGpConfig { max_iterations: 5, ..AdditiveGpConfig::new(block) };
        check_believer(&additive.fit(x.as_ref(), &y, 0).unwrap(), &more, &at, 1e-9);
    }
    check_believer(&DngoConfig::default().fit(x.as_ref(), &y, 0).unwrap(), &more, &at, 1e-5);
}

#[test]
fn a_dngo_that_asks_one_point_twice_halves_what_noise_can() {
    let (x, y, point) = (normal(40, 3, 98), normal_vec(40, 99), normal(1, 3, 100));
    let dngo = DngoConfig::default().fit(x.as_ref(), &y, 0).unwrap();
    let belief = dngo.predict(point.as_ref());
    let (mut surrogate, mut variance): (Box<dyn Surrogate>, f64) = (Box::new(dngo), belief.variance[0]);
    for _ in 0..3 {
        surrogate = surrogate.fantasise(point.as_ref());
        // A variance c and an observation of noise v: 1 / (1/c + 1/v).
        variance *= belief.noise / (variance + belief.noise);
        let ours = surrogate.predict(point.as_ref()).variance[0];
        assert!((ours - variance).abs() < 1e-6 * belief.variance[0], "{ours} where {variance} is expected");
    }
}

#[test]
fn an_ensemble_agrees_more_where_it_was_asked() {
    let (x, more) = (normal(40, 3, 102), faer::Scale(3.0) * &normal(2, 3, 104));
    let y: Vec<f64> = (0..40).map(|i| x[(i, 0)].sin() + 0.5 * x[(i, 1)]).collect();
    let config = DngoConfig { ensemble: 4, ..DngoConfig::default() };
    let ensemble = config.fit(x.as_ref(), &y, 0).unwrap();
    let (before, after) = (ensemble.predict(more.as_ref()), ensemble.fantasise(more.as_ref()).predict(more.as_ref()));
    assert_close(&after.mean, &before.mean, 1e-9);
    for i in 0..2 {
        assert!(after.variance[i] < 0.8 * before.variance[i], "{} of {}", after.variance[i], before.variance[i]);
    }
}

#[test]
fn a_sparse_fantasy_is_an_exact_refit_when_all_points_are_inducing() {
    let (x, y, more, at) = (normal(60, 4, 105), normal_vec(60, 106), normal(5, 4, 107), normal(20, 4, 108));
    for (kernel, bound) in [(Kernel::Rbf, Bound::Vfe), (Kernel::Matern52, Bound::Fitc)] {
        let config = SparseGpConfig {
            kernel,
            bound,
            n_inducing: 60,
            inducing_init: InducingInit::Random,
            learn_inducing: false,
            max_iterations: 3,
            jitter: 1e-10,
            center: false,
            ..SparseGpConfig::default()
        };
        let gp = config.fit(x.as_ref(), &y, 0).unwrap();
        let values = gp.predict(more.as_ref()).mean;
        let all = [y.as_slice(), values.as_slice()].concat();
        let refit = exact(kernel, &gp.hyperparameters(), &stack(&x, &more), &all, &at);
        let ours = gp.fantasise(more.as_ref()).predict(at.as_ref());
        assert_close(&ours.mean, &refit.mean, 1e-6);
        assert_close(&ours.variance, &refit.variance, 1e-6);
    }
}

fn check_gradient(surrogate: &dyn Surrogate, at: &Matrix) {
    let n_dims = at.ncols();
    for i in 0..at.nrows() {
        let x: Vec<f64> = at.row(i).iter().copied().collect();
        let ours = surrogate.gradient(&x).unwrap();
        let belief = surrogate.predict(MatRef::from_row_major_slice(&x, 1, n_dims));
        assert_close(&[ours.mean, ours.variance], &[belief.mean[0], belief.variance[0]], 1e-9);
        for d in 0..n_dims {
            let moved = |by: f64| {
                let mut x = x.clone();
                x[d] += by;
                surrogate.predict(MatRef::from_row_major_slice(&x, 1, n_dims))
            };
            let (above, below) = (moved(1e-5), moved(-1e-5));
            let numeric = |above: f64, below: f64| (above - below) / 2e-5;
            assert_close(&[ours.by_mean[d]], &[numeric(above.mean[0], below.mean[0])], 1e-5);
            assert_close(&[ours.by_variance[d]], &[numeric(above.variance[0], below.variance[0])], 1e-5);
        }
    }
}

#[test]
fn gradients_of_the_belief_are_those_of_finite_differences() {
    let (x, y, more, at) = (normal(80, 3, 109), normal_vec(80, 110), normal(4, 3, 111), normal(6, 3, 112));
    let x = Matrix::from_fn(80, 3, |i, d| x[(i, d)] * [1.0, 4.0, 0.5][d]);
    for (kernel, metric) in [(Kernel::Rbf, Metric::Ard), (Kernel::Matern52, Metric::Ard), (Kernel::Rbf, Metric::Linear)]
    {
        let config = SparseGpConfig { kernel, metric, n_inducing: 20, max_iterations: 10, ..SparseGpConfig::default() };
        let gp = config.fit(x.as_ref(), &y, 0).unwrap();
        check_gradient(&gp, &at);
        check_gradient(&*gp.fantasise(more.as_ref()), &at);
    }
    let published = PublishedGpConfig { n_inducing: 20, epochs: 5, ..PublishedGpConfig::default() };
    check_gradient(&published.fit(x.as_ref(), &y, 0).unwrap(), &at);
}
