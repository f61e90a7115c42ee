//! Acquisitions on posteriors made by hand, against numbers in closed form.

use pace_search::acquisition::{
    Acquisition, AcquisitionConfig, ExpectedImprovement, IndependentThompson, LogExpectedImprovement, PublishedEi,
    UpperConfidenceBound,
};
use pace_search::surrogate::Posterior;

use crate::surrogate_sample::normal_vec;

/// u, h = u cdf(u) + pdf(u) and log h, by:
///
/// python3 -c "from mpmath import *; mp.dps = 60; [print(u, nstr(h, 17), nstr(log(h), 17)) for u in map(mpf, '2 0.5 0
/// -0.5 -1 -2 -5 -10 -20 -24.9 -25.1 -40 -100 -1000 -100000'.split()) for h in [npdf(u) + u * ncdf(u)]]"
const IMPROVEMENTS: [(f64, f64, f64); 15] = [
    (2.0, 2.008_490_702_616_829_6, 0.697_383_545_788_228_3),
    (0.5, 0.697_796_557_401_306, -0.359_827_683_745_063_8),
    (0.0, 0.398_942_280_401_432_7, -0.918_938_533_204_672_7),
    (-0.5, 0.197_796_557_401_306_03, -1.620_516_264_387_32),
    (-1.0, 0.083_315_470_587_686_3, -2.485_121_025_712_641_3),
    (-2.0, 0.008_490_702_616_829_638, -4.768_783_523_917_114),
    (-5.0, 5.346_165_533_832_815e-8, -16.744_301_162_660_99),
    (-10.0, 7.474_560_254_589_328e-25, -55.553_122_036_122_35),
    (-20.0, 1.370_012_494_729_58e-90, -206.917_838_509_425_1),
    (-24.9, 1.489_226_846_786_799_6e-138, -317.358_485_742_667_4),
    (-25.1, 9.875_809_081_121_713e-141, -322.374_409_872_464),
    (-40.0, 0.0, -808.298_568_356_62),
    (-100.0, 0.0, -5_010.129_578_800_25),
    (-1000.0, 0.0, -500_014.734_452_091_16),
    (-100_000.0, 0.0, -5_000_000_023.944_789),
];

/// One candidate whose mean lies u standard deviations of 0.3 from a best score of 0.7.
fn posterior(u: f64) -> Posterior {
    Posterior { mean: vec![0.7 + 0.3 * u], variance: vec![0.09], noise: 5.0 }
}

#[test]
fn expected_improvement_has_its_closed_form() {
    for (u, h, log_h) in IMPROVEMENTS {
        let ei = ExpectedImprovement { xi: 0.0 }.score(&posterior(u), 0.7)[0];
        // The rounding of u itself changes h by u^2 units in the last place.
        let tolerance = 1e-10;
        assert!((ei - 0.3 * h).abs() <= tolerance * 0.3 * h, "u = {u}: {ei:e} where {:e} is expected", 0.3 * h);
        let log_ei = LogExpectedImprovement { xi: 0.0 }.score(&posterior(u), 0.7)[0];
        let expected = 0.3_f64.ln() + log_h;
        assert!((log_ei - expected).abs() < 1e-11 * expected.abs().max(1.0), "u = {u}: {log_ei} is not {expected}");
        let later = ExpectedImprovement { xi: 0.3 }.score(&posterior(u + 1.0), 0.7)[0];
        assert!((later - 0.3 * h).abs() <= 1e-10 * 0.3 * h, "xi shifts the best: {later:e}");
    }
}

#[test]
fn log_expected_improvement_rises_everywhere() {
    let mean: Vec<f64> = (-60_000..=2000).map(|step| 0.001 * f64::from(step)).collect();
    let posterior = Posterior { variance: vec![1.0; mean.len()], mean, noise: 0.0 };
    let log_ei = LogExpectedImprovement { xi: 0.0 }.score(&posterior, 0.0);
    assert!(log_ei.windows(2).all(|pair| pair[1] > pair[0]));
    let ei = ExpectedImprovement { xi: 0.0 }.score(&posterior, 0.0);
    assert!(ei.windows(2).all(|pair| pair[1] >= pair[0]));
    assert!(ei.iter().zip(&log_ei).all(|(ei, log_ei)| (ei.ln() - log_ei).abs() < 1e-12 || *ei < 1e-300));
}

#[test]
fn no_variance_is_no_trouble() {
    let posterior = Posterior {
        mean: vec![1.0, 2.0, 3.0, 1.0, 3.0, 1.0],
        variance: vec![0.0, 0.0, 0.0, -1e-18, 1e-320, 1e-320],
        noise: 0.0,
    };
    assert_eq!(ExpectedImprovement { xi: 0.0 }.score(&posterior, 2.0), [0.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    let none = f64::NEG_INFINITY;
    assert_eq!(LogExpectedImprovement { xi: 0.0 }.score(&posterior, 2.0), [none, none, 0.0, none, 0.0, none]);
    assert_eq!(UpperConfidenceBound { kappa: 2.0 }.score(&posterior, 2.0)[..4], [1.0, 2.0, 3.0, 1.0]);
    assert_eq!(IndependentThompson { seed: 0 }.score(&posterior, 2.0)[..4], [1.0, 2.0, 3.0, 1.0]);
    assert_eq!(PublishedEi { target: 2.0 }.score(&posterior, 9.0), [0.0, 0.0, 1.0, 0.0, 1.0, 1e-320]);
}

#[test]
fn upper_confidence_bound_adds_deviations() {
    let posterior = Posterior { mean: vec![1.0, 0.5], variance: vec![0.25, 4.0], noise: 9.0 };
    assert_eq!(UpperConfidenceBound { kappa: 2.0 }.score(&posterior, 7.0), [2.0, 4.5]);
    assert_eq!(UpperConfidenceBound { kappa: 0.0 }.score(&posterior, 7.0), [1.0, 0.5]);
}

#[test]
fn thompson_draws_have_the_moments_of_the_posterior() {
    let n = 20_000;
    let posterior = Posterior { mean: vec![3.0; n], variance: vec![4.0; n], noise: 9.0 };
    let draws = IndependentThompson { seed: 5 }.score(&posterior, 0.0);
    let mean = draws.iter().sum::<f64>() / n as f64;
    let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / n as f64;
    assert!((mean - 3.0).abs() < 0.05 && (variance - 4.0).abs() < 0.15, "{mean} {variance}");
    assert_eq!(draws, AcquisitionConfig::IndependentThompson.build(5).score(&posterior, 0.0));
    assert_ne!(draws, AcquisitionConfig::IndependentThompson.build(6).score(&posterior, 0.0));
}

#[test]
fn published_ei_is_that_of_its_formula_and_ranks_by_variance() {
    // v = 0.2, u = -0.5 / 0.2; python3 -c "from mpmath import *; u = mpf(-5) / 2; print(mpf('0.2') * (u * ncdf(u) + 1 + npdf(u)))"
    let posterior = Posterior { mean: vec![0.5], variance: vec![0.15], noise: 0.05 };
    let ours = PublishedEi::default().score(&posterior, f64::NAN)[0];
    assert!((ours - 0.200_400_827_435_825_64).abs() < 1e-12, "{ours}");
    // Accuracies around 0.9 with a standard deviation of some percent: the mean no longer counts.
    let noise = normal_vec(400, 80);
    let mean: Vec<f64> = noise[..200].iter().map(|e| 0.9 + 0.01 * e).collect();
    let variance: Vec<f64> = noise[200..].iter().map(|e| 1e-4 * (1.0 + e.abs())).collect();
    let mut order: Vec<usize> = (0..200).collect();
    let scores = PublishedEi::default().score(&Posterior { mean, variance: variance.clone(), noise: 1e-4 }, 0.95);
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    assert!(order.windows(2).all(|pair| variance[pair[0]] >= variance[pair[1]]));
}

#[test]
fn configs_survive_json_and_build() {
    let configs = [
        AcquisitionConfig::ExpectedImprovement(ExpectedImprovement { xi: 0.01 }),
        AcquisitionConfig::LogExpectedImprovement(LogExpectedImprovement { xi: 0.0 }),
        AcquisitionConfig::UpperConfidenceBound(UpperConfidenceBound { kappa: 2.0 }),
        AcquisitionConfig::IndependentThompson,
        AcquisitionConfig::PublishedEi(PublishedEi::default()),
    ];
    for config in configs {
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<AcquisitionConfig>(&text).unwrap(), config, "{text}");
        assert_eq!(config.build(0).score(&posterior(-1.0), 0.7).len(), 1);
    }
}
