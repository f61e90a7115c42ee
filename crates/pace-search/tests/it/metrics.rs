//! Closed-form numbers and agreement with definitions.

use pace_search::metrics::{kendall, pearson, ranks, rmse, spearman};
use proptest::prelude::{Strategy, prop_assert, proptest};

#[test]
fn numbers_known_by_hand() {
    let (p, a) = ([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 5.0]);
    assert!((rmse(&p, &a) - 0.75_f64.sqrt()).abs() < 1e-15);
    // cov = 5.5/4, var p = 5/4, var a = 8.75/4
    assert!((pearson(&p, &a) - 5.5 / (5.0 * 8.75_f64).sqrt()).abs() < 1e-15);
    assert!((spearman(&p, &a) - 0.8).abs() < 1e-15);
    assert!((kendall(&p, &a) - 4.0 / 6.0).abs() < 1e-15);
}

#[test]
fn ties_share_their_rank() {
    assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
    // Ranks 0.5 0.5 2 3 against 0 1 2 3; 5 concordant pairs, 1 tie.
    let (p, a) = ([1.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0]);
    assert!((spearman(&p, &a) - 4.5 / (4.5 * 5.0_f64).sqrt()).abs() < 1e-15);
    assert!((kendall(&p, &a) - 5.0 / (5.0 * 6.0_f64).sqrt()).abs() < 1e-15);
}

/// Tau-b by its definition, over all pairs.
fn kendall_by_pairs(p: &[f64], a: &[f64]) -> f64 {
    let (mut sum, mut n_p, mut n_a) = (0.0, 0.0, 0.0);
    for i in 0..p.len() {
        for j in 0..i {
            let sign = |x: f64, y: f64| if x == y { 0.0 } else { (x - y).signum() };
            let (s_p, s_a) = (sign(p[i], p[j]), sign(a[i], a[j]));
            sum += s_p * s_a;
            n_p += s_p * s_p;
            n_a += s_a * s_a;
        }
    }
    sum / (n_p * n_a).sqrt()
}

proptest! {
    #[test]
    fn kendall_is_its_definition(pairs in proptest::collection::vec((0..9_i32, 0..9_i32), 2..60)
        .prop_filter("not constant", |pairs| pairs.iter().any(|x| x.0 != pairs[0].0) && pairs.iter().any(|x| x.1 != pairs[0].1)))
    {
        let (p, a): (Vec<f64>, Vec<f64>) = pairs.iter().map(|&(p, a)| (f64::from(p), f64::from(a))).unzip();
        prop_assert!((kendall(&p, &a) - kendall_by_pairs(&p, &a)).abs() < 1e-12);
    }

    #[test]
    fn scale_and_shift_do_not_matter(values in proptest::collection::vec(-10.0..10.0_f64, 3..40)) {
        let other: Vec<f64> = values.iter().map(|value| 3.0 * value - 7.0).collect();
        prop_assert!((pearson(&values, &other) - 1.0).abs() < 1e-9);
        prop_assert!((spearman(&values, &other) - 1.0).abs() < 1e-9);
        prop_assert!((kendall(&values, &other) - 1.0).abs() < 1e-9);
    }
}
