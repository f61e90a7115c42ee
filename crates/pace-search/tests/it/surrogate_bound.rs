//! The collapsed bounds: their value against dense algebra, their gradient against finite differences.

use pace_search::Matrix;
use pace_search::surrogate::{Bound, Hyperparameters, Kernel};

use crate::surrogate_sample::{cholesky, covariance, exact, forward_solve, normal, normal_vec};

const JITTER: f64 = 1e-9;

fn hyper(inducing: Matrix) -> Hyperparameters {
    let log_lengths = (0..inducing.ncols()).map(|d| 0.2 + 0.15 * d as f64).collect();
    Hyperparameters { map: None, log_lengths, log_variance: 0.3, log_noise: -1.5, inducing }
}

/// log N(y; 0, Q + Lambda) and the trace term, with every matrix written out.
fn dense_bound(bound: Bound, kernel: Kernel, hyper: &Hyperparameters, x: &Matrix, y: &[f64]) -> f64 {
    let (n, m, noise) = (x.nrows(), hyper.inducing.nrows(), hyper.log_noise.exp());
    let mut kmm = covariance(kernel, hyper, &hyper.inducing, &hyper.inducing);
    (0..m).for_each(|j| kmm[(j, j)] += JITTER * hyper.log_variance.exp());
    let (l, kmn) = (cholesky(&kmm), covariance(kernel, hyper, &hyper.inducing, x));
    let white: Vec<Vec<f64>> = (0..n).map(|i| forward_solve(&l, kmn.col_as_slice(i))).collect();
    let q = |i: usize, j: usize| white[i].iter().zip(&white[j]).map(|(a, b)| a * b).sum::<f64>();
    let missing = |i: usize| hyper.log_variance.exp() - q(i, i);
    let mut total = Matrix::from_fn(n, n, q);
    for i in 0..n {
        total[(i, i)] += noise + if bound == Bound::Fitc { missing(i) } else { 0.0 };
    }
    let l = cholesky(&total);
    let square: f64 = forward_solve(&l, y).iter().map(|v| v * v).sum();
    let log_det: f64 = (0..n).map(|i| 2.0 * l[(i, i)].ln()).sum();
    let density = -0.5 * (square + log_det + n as f64 * (2.0 * std::f64::consts::PI).ln());
    match bound {
        Bound::Vfe => density - 0.5 / noise * (0..n).map(missing).sum::<f64>(),
        Bound::Fitc => density,
    }
}

#[test]
fn value_equals_dense_algebra() {
    let (x, y) = (normal(50, 3, 1), normal_vec(50, 2));
    let hyper = hyper(normal(9, 3, 3));
    for bound in [Bound::Vfe, Bound::Fitc] {
        for kernel in [Kernel::Rbf, Kernel::Matern52] {
            let ours = bound.evaluate(kernel, &hyper, x.as_ref(), &y, JITTER).unwrap().value;
            let dense = dense_bound(bound, kernel, &hyper, &x, &y);
            assert!((ours - dense).abs() < 1e-7 * dense.abs(), "{bound:?} {kernel:?}: {ours} != {dense}");
        }
    }
}

#[test]
fn all_points_inducing_gives_the_exact_evidence() {
    // More points than a chunk of columns.
    let (x, y) = (normal(150, 8, 4), normal_vec(150, 5));
    let hyper = hyper(x.clone());
    for kernel in [Kernel::Rbf, Kernel::Matern52] {
        let exact = exact(kernel, &hyper, &x, &y, &x).log_evidence;
        for bound in [Bound::Vfe, Bound::Fitc] {
            let ours = bound.evaluate(kernel, &hyper, x.as_ref(), &y, JITTER).unwrap().value;
            assert!((ours - exact).abs() < 1e-5 * exact.abs(), "{bound:?} {kernel:?}: {ours} != {exact}");
        }
    }
}

#[test]
fn vfe_never_exceeds_the_exact_evidence() {
    let (x, y) = (normal(60, 2, 6), normal_vec(60, 7));
    let mut last = f64::NEG_INFINITY;
    for m in [3, 10, 30, 60] {
        let hyper = hyper(x.subrows(0, m).to_owned());
        let ours = Bound::Vfe.evaluate(Kernel::Rbf, &hyper, x.as_ref(), &y, JITTER).unwrap().value;
        let exact = exact(Kernel::Rbf, &hyper, &x, &y, &x).log_evidence;
        assert!(ours <= exact + 1e-4, "{m} inducing points: {ours} > {exact}");
        assert!(ours >= last - 1e-4, "more inducing points are never worse: {ours} < {last}");
        last = ours;
    }
}

#[test]
fn gradient_equals_finite_differences() {
    // More rows than a block, and not a multiple of one.
    let (x, y) = (normal(700, 3, 8), normal_vec(700, 9));
    let start = hyper(normal(7, 3, 10));
    for bound in [Bound::Vfe, Bound::Fitc] {
        for kernel in [Kernel::Rbf, Kernel::Matern52] {
            let at = |hyper: &Hyperparameters| bound.evaluate(kernel, hyper, x.as_ref(), &y, 1e-6).unwrap();
            let gradient = at(&start).gradient;
            let check = |name: &str, change: &dyn Fn(&mut Hyperparameters, f64), ours: f64| {
                let step = 1e-5;
                let value = |sign: f64| {
                    let mut hyper = start.clone();
                    change(&mut hyper, sign * step);
                    at(&hyper).value
                };
                let numeric = (value(1.0) - value(-1.0)) / (2.0 * step);
                assert!(
                    (ours - numeric).abs() < 1e-5 * numeric.abs().max(1.0),
                    "{bound:?} {kernel:?} by {name}: {ours}, by differences {numeric}"
                );
            };
            check("log variance", &|hyper, by| hyper.log_variance += by, gradient.log_variance);
            check("log noise", &|hyper, by| hyper.log_noise += by, gradient.log_noise);
            for d in 0..3 {
                check("log length", &|hyper, by| hyper.log_lengths[d] += by, gradient.log_lengths[d]);
                for j in 0..7 {
                    check("inducing", &|hyper, by| hyper.inducing[(j, d)] += by, gradient.inducing[(j, d)]);
                }
            }
        }
    }
}

#[test]
fn gradient_by_the_map_equals_finite_differences() {
    // Five dimensions mapped to three.
    let (x, y) = (normal(700, 5, 18), normal_vec(700, 19));
    let start = Hyperparameters { map: Some(normal(3, 5, 20)), ..hyper(normal(7, 3, 10)) };
    for bound in [Bound::Vfe, Bound::Fitc] {
        let at = |hyper: &Hyperparameters| bound.evaluate(Kernel::Matern52, hyper, x.as_ref(), &y, 1e-6).unwrap();
        let gradient = at(&start).gradient.map.unwrap();
        for (k, d) in (0..3).flat_map(|k| (0..5).map(move |d| (k, d))) {
            let value = |step: f64| {
                let mut hyper = start.clone();
                hyper.map.as_mut().unwrap()[(k, d)] += step;
                at(&hyper).value
            };
            let (ours, numeric) = (gradient[(k, d)], (value(1e-5) - value(-1e-5)) / 2e-5);
            assert!((ours - numeric).abs() < 1e-5 * numeric.abs().max(1.0), "{bound:?} ({k}, {d}): {ours}, {numeric}");
        }
    }
}

#[test]
fn a_map_is_the_same_as_mapped_vectors() {
    let (x, y, map) = (normal(100, 5, 18), normal_vec(100, 19), normal(3, 5, 20));
    let mapped = &x * map.transpose();
    let plain = hyper(normal(7, 3, 10));
    let with_map = Hyperparameters { map: Some(map), ..plain.clone() };
    let value = |hyper: &Hyperparameters, x: &Matrix| {
        Bound::Vfe.evaluate(Kernel::Rbf, hyper, x.as_ref(), &y, JITTER).unwrap().value
    };
    assert!((value(&with_map, &x) - value(&plain, &mapped)).abs() < 1e-9);
}

#[test]
fn gradient_holds_along_a_line_with_many_inducing_points() {
    let (x, y) = (normal(500, 3, 14), normal_vec(500, 15));
    let (start, along) = (hyper(normal(150, 3, 16)), normal(150, 3, 17));
    for bound in [Bound::Vfe, Bound::Fitc] {
        let at = |step: f64| {
            let mut hyper = start.clone();
            hyper.log_lengths.iter_mut().for_each(|log| *log += step);
            hyper.log_variance -= step;
            hyper.log_noise += 2.0 * step;
            hyper.inducing += faer::Scale(step) * &along;
            bound.evaluate(Kernel::Matern52, &hyper, x.as_ref(), &y, 1e-6).unwrap()
        };
        let gradient = at(0.0).gradient;
        let moved: f64 =
            (0..3).flat_map(|d| (0..150).map(move |j| (j, d))).map(|at| gradient.inducing[at] * along[at]).sum();
        let ours = gradient.log_lengths.iter().sum::<f64>() - gradient.log_variance + 2.0 * gradient.log_noise + moved;
        let numeric = (at(1e-5).value - at(-1e-5).value) / 2e-5;
        assert!((ours - numeric).abs() < 1e-4 * numeric.abs(), "{bound:?}: {ours}, by differences {numeric}");
    }
}

#[test]
fn order_of_rows_and_number_of_threads_do_not_matter() {
    let (x, y) = (normal(3000, 4, 11), normal_vec(3000, 12));
    let hyper = hyper(normal(130, 4, 13));
    let reversed = Matrix::from_fn(3000, 4, |i, d| x[(2999 - i, d)]);
    let reversed_y: Vec<f64> = y.iter().rev().copied().collect();
    for bound in [Bound::Vfe, Bound::Fitc] {
        let at = |x: &Matrix, y: &[f64]| bound.evaluate(Kernel::Rbf, &hyper, x.as_ref(), y, 1e-6).unwrap();
        let with_threads = |n| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
            pool.install(|| at(&x, &y))
        };
        let one = with_threads(1);
        assert_eq!(one, with_threads(2));
        assert_eq!(one, with_threads(3));
        let other = at(&reversed, &reversed_y).value;
        assert!((one.value - other).abs() < 1e-9 * one.value.abs(), "{} != {other}", one.value);
    }
}
