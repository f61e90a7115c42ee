//! One source, several instruction sets: loops written over fixed-size arrays, compiled again per CPU level and chosen at
//! run time, so a binary built for any x86-64 still uses the vectors of the machine it runs on.

use std::sync::OnceLock;

/// What the loops may assume of the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// What the target guarantees.
    Baseline,
    /// AVX2 and fused multiply-add.
    V3,
    /// AVX-512.
    V4,
}

/// The level of this machine, detected once.
pub(crate) fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(detect)
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Level {
    let v3 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let v4 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq");
    match (v3, v4) {
        (true, true) => Level::V4,
        (true, false) => Level::V3,
        _ => Level::Baseline,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Level {
    Level::Baseline
}

/// Defines `fn name(args) -> out` that runs `body::<FMA>(args)` compiled for the level of the machine.
///
/// `body` and everything it calls in its loops must be `#[inline(always)]`, else they keep the baseline instructions.
/// Its const parameter says whether `mul_add` is an instruction (true) or a library call to avoid (false).
macro_rules! multiversion {
    ($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) = $body:ident) => {
        $(#[$meta])*
        #[allow(unsafe_code, clippy::too_many_arguments)]
        pub(crate) fn $name($($arg: $ty),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512bw,avx512dq")]
                fn v4($($arg: $ty),*) {
                    $body::<true>($($arg),*)
                }
                #[target_feature(enable = "avx2,fma")]
                fn v3($($arg: $ty),*) {
                    $body::<true>($($arg),*)
                }
                match $crate::kernel::fused::simd::level() {
                    // SAFETY: the level says that this CPU has every feature the function is compiled with.
                    $crate::kernel::fused::simd::Level::V4 => return unsafe { v4($($arg),*) },
                    // SAFETY: as above.
                    $crate::kernel::fused::simd::Level::V3 => return unsafe { v3($($arg),*) },
                    $crate::kernel::fused::simd::Level::Baseline => {}
                }
            }
            $body::<false>($($arg),*)
        }
    };
}
pub(crate) use multiversion;

/// a * b + c, in one rounding where that is one instruction.
#[inline(always)]
pub(crate) fn fma<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// e^x for x <= 0 to 1e-7 relative; exactly 0 under -87, so that no denormal number slows the loops after it.
///
/// Cody-Waite reduction x = n ln 2 + r and the degree-5 polynomial of Cephes on r, then 2^n through the exponent bits.
#[inline(always)]
pub(crate) fn exp<const FMA: bool>(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5 * 2^23: adding and subtracting it rounds to an integer
    let t = x.max(-87.0);
    let shifted = t * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = fma::<FMA>(n, -0.693_359_4, t);
    let r = fma::<FMA>(n, 2.121_944_4e-4, r);
    let mut p = 1.987_569_1e-4;
    p = fma::<FMA>(p, r, 1.398_199_9e-3);
    p = fma::<FMA>(p, r, 8.333_452e-3);
    p = fma::<FMA>(p, r, 4.166_579_6e-2);
    p = fma::<FMA>(p, r, 1.666_666_5e-1);
    p = fma::<FMA>(p, r, 5e-1);
    let y = fma::<FMA>(p, r * r, r) + 1.0;
    // The low bits of `shifted` are n: moved up and biased they are the exponent of 2^n.
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23));
    // A mask and not a condition, which the compiler would turn into a branch per lane.
    let mask = u32::from(x > -87.0).wrapping_neg();
    f32::from_bits((y * power).to_bits() & mask)
}

/// Sum of f(a, b) over two rows of equal length in 8 lanes, folded pairwise: the same order for every CPU level.
#[inline(always)]
pub(crate) fn sum_by(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    const LANES: usize = 8;
    let mut lanes = [0.0; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes[lane] += f(a[lane], b[lane]);
        }
    }
    for (lane, (a, b)) in lanes.iter_mut().zip(a_rest.iter().zip(b_rest)) {
        *lane += f(*a, *b);
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] += lanes[lane + width];
        }
        width /= 2;
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use super::{exp, sum_by};

    #[test]
    fn exp_is_accurate_and_never_denormal() {
        for step in 0..=200_000 {
            let x = -step as f32 * 5e-4;
            let (got, want) = (exp::<true>(x), f64::from(x).exp());
            assert_eq!(got == 0.0, x <= -87.0, "{x}");
            assert!(got == 0.0 || ((f64::from(got) - want) / want).abs() < 2e-7, "exp({x}) = {got}, not {want}");
            assert!(got == 0.0 || got.is_normal());
        }
        assert_eq!(exp::<true>(0.0), 1.0);
        assert_eq!(exp::<true>(f32::NEG_INFINITY), 0.0);
    }

    #[test]
    fn sums_of_any_length() {
        for len in 0_usize..70 {
            let row: Vec<f32> = (0..len).map(|i| i as f32).collect();
            assert_eq!(sum_by(&row, &row, |a, _| a), (len * len.saturating_sub(1) / 2) as f32);
        }
    }
}
