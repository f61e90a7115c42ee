//! The hyperbolic tangent, written so that the compiler can vectorise it.

/// Beyond this tanh is 1 in single precision.
const HIGHEST: f32 = 9.5;
/// Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits. Subtracting it again gives the integer.
const ROUND: f32 = 12_582_912.0;
/// ln 2, as the sum of a number with many trailing zeros and a correction.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// Replaces every z of a column by tanh(z + bias).
pub(super) fn tanh_biased(column: &mut [f32], bias: &[f32]) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || column.iter_mut().zip(bias).for_each(|(z, bias)| *z = tanh(*z + bias)),
    );
}

/// tanh(z) to about 2e-7. NaN stays NaN.
///
/// It is (1 - t) / (1 + t) with the sign of z, where t = exp(-2 |z|) = 2^k exp(r) and |r| <= ln(2) / 2. exp(r) is its Taylor
/// polynomial of degree 6.
#[inline(always)]
fn tanh(z: f32) -> f32 {
    let size = z.abs();
    // Not `min`, which would hide NaN.
    let x = -2.0 * if size > HIGHEST { HIGHEST } else { size };
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let mut sum = 1.0 / 720.0;
    for factorial in [120.0, 24.0, 6.0, 2.0, 1.0, 1.0] {
        sum = sum * r + 1.0 / factorial;
    }
    let t = sum * f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0_f32.to_bits()));
    ((1.0 - t) / (1.0 + t)).copysign(z)
}

#[cfg(test)]
mod tests {
    use super::tanh;

    #[test]
    fn agrees_with_the_standard_library() {
        for step in -120_000..=120_000 {
            let z = step as f32 * 1e-4;
            let (ours, theirs) = (tanh(z), f64::from(z).tanh());
            assert!((f64::from(ours) - theirs).abs() < 2e-7, "tanh({z}) = {theirs:e}, not {ours:e}");
        }
        assert_eq!((tanh(0.0), tanh(1e30), tanh(f32::NEG_INFINITY)), (0.0, 1.0, -1.0));
        assert!(tanh(f32::NAN).is_nan());
    }
}
