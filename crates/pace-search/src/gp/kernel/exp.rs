//! The exponential function, written so that the compiler can vectorise it.

/// Below this the result is 0. exp(-230) is about 1e-100: nothing beside the jitter of any covariance, and the product of three
/// such numbers is still a normal one. Products of smaller numbers are not, and arithmetic on these takes a hundred times as long.
const LOWEST: f64 = -230.0;
/// Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits. Subtracting it again gives the integer.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2, as the sum of a number with many trailing zeros and a correction.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// exp(x) for x <= 0, to about one unit in the last place. Below -230 it is 0.
///
/// With x = k ln 2 + r and |r| <= ln(2) / 2, exp(x) = 2^k exp(r). exp(r) is its Taylor polynomial of degree 13.
#[inline(always)]
pub(super) fn exp_nonpositive(x: f64) -> f64 {
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let mut sum = 1.0 / 6_227_020_800.0;
    for factorial in
        [479_001_600.0, 39_916_800.0, 3_628_800.0, 362_880.0, 40_320.0, 5_040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0]
    {
        sum = sum * r + 1.0 / factorial;
    }
    let exp = sum * f64::from_bits((shifted.to_bits() << 52).wrapping_add(1.0_f64.to_bits()));
    // Whatever came out far below is replaced. NaN stays, unlike with `max`.
    if x < LOWEST { 0.0 } else { exp }
}

#[cfg(test)]
mod tests {
    use super::exp_nonpositive;

    #[test]
    fn agrees_with_the_standard_library() {
        for step in 0..200_000 {
            let x = -f64::from(step) * 0.00115;
            let (ours, theirs) = (exp_nonpositive(x), x.exp());
            assert!((ours - theirs).abs() <= 4e-16 * theirs, "exp({x}) = {theirs:e}, not {ours:e}");
        }
        assert_eq!(exp_nonpositive(0.0), 1.0);
        for x in [-230.1, -1e9, -f64::MAX, f64::NEG_INFINITY] {
            assert_eq!(exp_nonpositive(x), 0.0, "exp({x})");
        }
        assert!(exp_nonpositive(f64::NAN).is_nan());
    }
}
