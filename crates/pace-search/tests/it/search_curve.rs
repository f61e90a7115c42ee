//! Traces, curves and bands.

use pace_search::{Band, Curve, Trace};

#[test]
fn a_trace_follows_the_best() {
    let trace = Trace::of([None, Some(0.5), Some(0.4), Some(0.5), None, Some(0.7)]);
    assert_eq!(trace.incumbents, [None, Some(1), Some(1), Some(1), Some(1), Some(5)]);
    assert_eq!(trace.best(), Some(0.7));
    assert_eq!(trace.best_so_far().values[1..], [0.5, 0.5, 0.5, 0.5, 0.7]);
    assert!(trace.best_so_far().values[0].is_nan());
    let test_accuracy = [0.0, 0.9, 0.0, 0.0, 0.0, 0.8];
    let regret = trace.follow(|id| test_accuracy[id]).regret(1.0);
    assert!((regret.values[4] - 0.1).abs() < 1e-12 && (regret.values[5] - 0.2).abs() < 1e-12);
    assert_eq!(Trace::of([None, None]).best(), None);
    assert_eq!(Trace::default().best(), None);
}

#[test]
fn queries_are_counted_until_a_score_is_reached() {
    let trace = Trace::of([None, Some(-30.5), Some(-30.1), None, Some(-30.0), Some(-20.0)]);
    assert_eq!(
        [-31.0, -30.5, -30.2, -30.0, -25.0, -20.0].map(|wanted| trace.queries_until(wanted)),
        [2, 2, 3, 5, 6, 6].map(Some)
    );
    assert_eq!(trace.queries_until(-19.99), None);
    // Sums in another order differ in the last digits.
    assert_eq!(trace.queries_until(-30.0 + 1e-8), Some(5));
    assert_eq!(trace.queries_until(-30.0 + 1e-7), Some(6));
    assert_eq!(Trace::of([Some(0.0)]).queries_until(0.0), Some(1));
    assert_eq!(Trace::of([None, None]).queries_until(f64::MIN), None);
}

#[test]
fn a_band_is_the_interval_of_student() {
    let curves = [vec![f64::NAN, 1.0], vec![4.0, 2.0], vec![6.0, 3.0, 9.0]].map(|values| Curve { values });
    let band = Band::of(&curves);
    assert_eq!((band.n_seeds, &band.mean[..]), (3, &[5.0, 2.0, 4.0][..]));
    // s = 1 and t = 4.3027 for 2 degrees of freedom; of two values 4 and 6: s / sqrt(2) = 1 and t = 12.7062.
    assert!((band.high[1] - (2.0 + 4.3027 / 3f64.sqrt())).abs() < 1e-9);
    assert!((band.low[0] - (5.0 - 12.7062)).abs() < 1e-9);
    let single = Band::of(&curves[2..]);
    assert_eq!(single.mean, [6.0, 3.0, 9.0]);
    assert!(single.low[0].is_nan());
}
