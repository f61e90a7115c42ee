//! The standard normal distribution, and the improvement of a standard normal outcome.

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// 1 / sqrt(2 pi)
const FRAC_1_SQRT_2_PI: f64 = 0.398_942_280_401_432_7;
/// log(2 pi) / 2
const HALF_LOG_2_PI: f64 = 0.918_938_533_204_672_8;
/// Below this the closed form loses too many digits, and the series is used.
const TAIL: f64 = -25.0;

/// exp(-u^2 / 2) / sqrt(2 pi)
pub(crate) fn pdf(u: f64) -> f64 {
    FRAC_1_SQRT_2_PI * (-0.5 * u * u).exp()
}

/// The probability of an outcome below u, exact in the lower tail.
pub(crate) fn cdf(u: f64) -> f64 {
    0.5 * libm::erfc(-u * FRAC_1_SQRT_2)
}

/// The z with P(Z <= z) = p. Bisection is fast enough for a few hundred calls per round.
pub(crate) fn quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-9.0, 9.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        // A division, unlike in `cdf`: a change of the last bit would change the queries of searches.
        let below = 0.5 * libm::erfc(-middle / SQRT_2);
        if below < p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// h(u) = u cdf(u) + pdf(u): the expectation of max(Z + u, 0) for a standard normal Z.
pub(crate) fn improvement(u: f64) -> f64 {
    match u {
        // The product of infinity and 0 is NaN.
        f64::NEG_INFINITY => 0.0,
        _ if u < TAIL => log_improvement(u).exp(),
        _ => u * cdf(u) + pdf(u),
    }
}

/// log h(u), also if h(u) underflows.
///
/// ```text
/// u >= -25   log(u cdf(u) + pdf(u))
/// u <  -25   log pdf(u) - 2 log |u| + log(1 - 3!!/u^2 + 5!!/u^4 - 7!!/u^6 + ...)
/// ```
pub(crate) fn log_improvement(u: f64) -> f64 {
    if u >= TAIL || u.is_nan() {
        return improvement(u).ln();
    }
    let inverse = 1.0 / (u * u);
    let mut series = 0.0;
    for factor in [15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        series = -factor * inverse * (1.0 + series);
    }
    -0.5 * u * u - HALF_LOG_2_PI - 2.0 * u.abs().ln() + series.ln_1p()
}
