//! The instructions of each level, and the choice between the levels at run time. All unchecked code of the kernels is here.
//!
//! An instruction may be used on a CPU that has it. The tokens [`Avx2`], [`Avx512`] and [`Neon`] have a private field, and only
//! [`detect`], which asks the CPU, makes them. So whoever holds a token may use its instructions.

#![allow(unsafe_code)]

use std::sync::OnceLock;

use super::{Portable, Simd};

/// What this CPU can do, and so which version of a kernel runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Level {
    /// What any CPU can do; gives the bits of the levels below.
    Portable(Portable<true>),
    /// The same with multiply-adds that round twice, for CPUs on which one rounding would be slow.
    Unfused(Portable<false>),
    /// AVX2 and fused multiply-add: 16 registers of 8 lanes.
    #[cfg(target_arch = "x86_64")]
    V3(Avx2),
    /// AVX-512: 32 registers of 16 lanes.
    #[cfg(target_arch = "x86_64")]
    V4(Avx512),
    /// NEON: 32 registers of 4 lanes.
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
}

impl Level {
    /// The name that `PACE_SIMD` knows it by, and [`Simd::TILE_VECTORS`].
    fn facts(self) -> (&'static str, usize) {
        match self {
            Self::Portable(_) => ("portable", Portable::<true>::TILE_VECTORS),
            Self::Unfused(_) => ("unfused", Portable::<false>::TILE_VECTORS),
            #[cfg(target_arch = "x86_64")]
            Self::V3(_) => ("v3", Avx2::TILE_VECTORS),
            #[cfg(target_arch = "x86_64")]
            Self::V4(_) => ("v4", Avx512::TILE_VECTORS),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) => ("neon", Neon::TILE_VECTORS),
        }
    }

    /// [`Simd::TILE_VECTORS`] of the level.
    pub(crate) fn tile_vectors(self) -> usize {
        self.facts().1
    }
}

/// The level of this process: the best one of this CPU, or the one that the variable `PACE_SIMD` names.
///
/// # Panics
///
/// If the variable names a level that this CPU does not have.
pub(crate) fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        let levels = detect();
        match std::env::var("PACE_SIMD") {
            Err(_) => levels[0],
            Ok(wanted) => *levels.iter().find(|level| level.facts().0 == wanted).unwrap_or_else(|| {
                let names: Vec<&str> = levels.iter().map(|level| level.facts().0).collect();
                panic!("PACE_SIMD={wanted} is no level of this CPU; it has {}", names.join(", "))
            }),
        }
    })
}

/// The levels of this CPU, the best one first.
pub(crate) fn detect() -> Vec<Level> {
    let mut levels = vec![Level::Portable(Portable)];
    #[cfg(not(any(target_arch = "aarch64", target_arch = "riscv64")))]
    levels.insert(0, Level::Unfused(Portable));
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        levels[0] = Level::V3(Avx2(()));
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
        {
            levels.insert(0, Level::V4(Avx512(())));
        }
    }
    // NEON is part of every aarch64 target that Rust has with an operating system.
    #[cfg(target_arch = "aarch64")]
    levels.insert(0, Level::Neon(Neon(())));
    levels
}

/// Defines `fn name(args)` that runs `body(level, args)` compiled for the level of this process.
///
/// `body` takes an `impl Simd` before the arguments. It and everything it calls in its loops must be `#[inline(always)]`, else
/// they are compiled without the instructions of the level. `cargo xtask ci asm` checks the result.
macro_rules! kernel {
    ($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) = $body:ident) => {
        $(#[$meta])*
        #[allow(unsafe_code, clippy::too_many_arguments)]
        pub(crate) fn $name($($arg: $ty),*) {
            use $crate::kernel::fused::simd::{Level, level};
            match level() {
                #[cfg(target_arch = "x86_64")]
                Level::V4(s) => {
                    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512bw,avx512dq")]
                    fn v4(s: $crate::kernel::fused::simd::Avx512, $($arg: $ty),*) {
                        $body(s, $($arg),*)
                    }
                    // SAFETY: the token says that this CPU has every feature the function is compiled with.
                    unsafe { v4(s, $($arg),*) }
                }
                #[cfg(target_arch = "x86_64")]
                Level::V3(s) => {
                    #[target_feature(enable = "avx2,fma")]
                    fn v3(s: $crate::kernel::fused::simd::Avx2, $($arg: $ty),*) {
                        $body(s, $($arg),*)
                    }
                    // SAFETY: as above.
                    unsafe { v3(s, $($arg),*) }
                }
                #[cfg(target_arch = "aarch64")]
                Level::Neon(s) => {
                    // A function of its own, as the other levels are, and not part of one that has the portable loops too.
                    #[inline(never)]
                    fn neon(s: $crate::kernel::fused::simd::Neon, $($arg: $ty),*) {
                        $body(s, $($arg),*)
                    }
                    neon(s, $($arg),*)
                }
                Level::Portable(s) => $body(s, $($arg),*),
                Level::Unfused(s) => $body(s, $($arg),*),
            }
        }
    };
}
pub(crate) use kernel;

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

#[cfg(target_arch = "aarch64")]
pub(crate) use arm::Neon;

/// Wraps one instruction per method; all of them have the same reason to be sound.
macro_rules! instructions {
    ($($(#[$meta:meta])* fn $name:ident $(<const $g:ident: $gty:ty>)? ($s:ident $(, $arg:ident: $ty:ty)*) $(-> $out:ty)? $body:block)*) => {
        $(
            $(#[$meta])*
            // NEON is part of the target, so that only its loads and stores are unchecked there.
            #[cfg_attr(target_arch = "aarch64", allow(unused_unsafe))]
            #[inline(always)]
            fn $name $(<const $g: $gty>)? ($s $(, $arg: $ty)*) $(-> $out)? {
                // SAFETY: the token `self` says that this CPU has the instructions; addresses come from slices and arrays that
                // are at least as long as what is read or written.
                unsafe { $body }
            }
        )*
    };
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #[allow(clippy::wildcard_imports)]
    use std::arch::x86_64::*;

    use crate::kernel::fused::simd::{LANES, Simd};

    /// The proof of AVX2 and FMA.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Avx2(pub(super) ());

    /// The proof of AVX-512 F, VL, BW and DQ.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Avx512(pub(super) ());

    /// Ones, then zeros: the mask for the first n lanes begins 8 - n before the middle.
    const MASKS: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

    /// The mask of the first n of 8 lanes.
    #[inline(always)]
    fn first_of_8(n: usize) -> __m256i {
        let from = &MASKS[8 - n.min(8)..][..8];
        // SAFETY: eight numbers, loaded without alignment. AVX is there because only methods of `Avx2` call this.
        unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
    }

    type Two = [__m256; 2];

    impl Simd for Avx2 {
        type V = Two;
        type U = [__m256i; 2];
        type M = Two;

        /// 6 x 16: 12 sums of the 16 registers.
        const TILE_VECTORS: usize = 1;

        instructions! {
            fn splat(self, x: f32) -> Two { [_mm256_set1_ps(x); 2] }
            fn load(self, from: &[f32; LANES]) -> Two {
                [_mm256_loadu_ps(from.as_ptr()), _mm256_loadu_ps(from.as_ptr().add(8))]
            }
            fn store(self, v: Two, to: &mut [f32; LANES]) {
                _mm256_storeu_ps(to.as_mut_ptr(), v[0]);
                _mm256_storeu_ps(to.as_mut_ptr().add(8), v[1]);
            }
            fn load_part(self, from: &[f32]) -> Two {
                let (p, n) = (from.as_ptr(), from.len().min(LANES));
                [_mm256_maskload_ps(p, first_of_8(n)), _mm256_maskload_ps(p.wrapping_add(8), first_of_8(n.saturating_sub(8)))]
            }
            fn store_part(self, v: Two, to: &mut [f32]) {
                let (p, n) = (to.as_mut_ptr(), to.len().min(LANES));
                _mm256_maskstore_ps(p, first_of_8(n), v[0]);
                _mm256_maskstore_ps(p.wrapping_add(8), first_of_8(n.saturating_sub(8)), v[1]);
            }
            fn repeat<const H: usize>(self, from: &[f32; H]) -> Two {
                match H {
                    4 => [_mm256_broadcast_ps(&_mm_loadu_ps(from.as_ptr())); 2],
                    8 => [_mm256_loadu_ps(from.as_ptr()); 2],
                    16 => [_mm256_loadu_ps(from.as_ptr()), _mm256_loadu_ps(from.as_ptr().add(8))],
                    _ => unreachable!("4, 8 or 16 numbers"),
                }
            }
            fn add(self, a: Two, b: Two) -> Two { [_mm256_add_ps(a[0], b[0]), _mm256_add_ps(a[1], b[1])] }
            fn sub(self, a: Two, b: Two) -> Two { [_mm256_sub_ps(a[0], b[0]), _mm256_sub_ps(a[1], b[1])] }
            fn mul(self, a: Two, b: Two) -> Two { [_mm256_mul_ps(a[0], b[0]), _mm256_mul_ps(a[1], b[1])] }
            fn div(self, a: Two, b: Two) -> Two { [_mm256_div_ps(a[0], b[0]), _mm256_div_ps(a[1], b[1])] }
            fn sqrt(self, a: Two) -> Two { [_mm256_sqrt_ps(a[0]), _mm256_sqrt_ps(a[1])] }
            fn fma(self, a: Two, b: Two, c: Two) -> Two {
                [_mm256_fmadd_ps(a[0], b[0], c[0]), _mm256_fmadd_ps(a[1], b[1], c[1])]
            }
            fn max(self, a: Two, b: Two) -> Two { [_mm256_max_ps(a[0], b[0]), _mm256_max_ps(a[1], b[1])] }
            fn abs(self, a: Two) -> Two {
                let sign = _mm256_set1_ps(-0.0);
                [_mm256_andnot_ps(sign, a[0]), _mm256_andnot_ps(sign, a[1])]
            }
            fn gt(self, a: Two, b: Two) -> Two {
                [_mm256_cmp_ps::<_CMP_GT_OQ>(a[0], b[0]), _mm256_cmp_ps::<_CMP_GT_OQ>(a[1], b[1])]
            }
            fn select(self, mask: Two, a: Two, b: Two) -> Two {
                [_mm256_blendv_ps(b[0], a[0], mask[0]), _mm256_blendv_ps(b[1], a[1], mask[1])]
            }
            fn lanes(self, from: usize, to: usize) -> Two {
                let low = _mm256_andnot_si256(first_of_8(from), first_of_8(to));
                let high = _mm256_andnot_si256(first_of_8(from.saturating_sub(8)), first_of_8(to.saturating_sub(8)));
                [_mm256_castsi256_ps(low), _mm256_castsi256_ps(high)]
            }
            fn swap<const BY: usize>(self, v: Two) -> Two {
                match BY {
                    8 => [v[1], v[0]],
                    4 => [_mm256_permute2f128_ps::<1>(v[0], v[0]), _mm256_permute2f128_ps::<1>(v[1], v[1])],
                    2 => [_mm256_permute_ps::<0b01_00_11_10>(v[0]), _mm256_permute_ps::<0b01_00_11_10>(v[1])],
                    1 => [_mm256_permute_ps::<0b10_11_00_01>(v[0]), _mm256_permute_ps::<0b10_11_00_01>(v[1])],
                    _ => unreachable!("1, 2, 4 or 8"),
                }
            }
            fn first(self, v: Two) -> f32 { _mm256_cvtss_f32(v[0]) }
            fn power_of_two(self, shifted: Two) -> Two {
                let bias = _mm256_set1_epi32(127 << 23);
                let low = _mm256_add_epi32(_mm256_slli_epi32::<23>(_mm256_castps_si256(shifted[0])), bias);
                let high = _mm256_add_epi32(_mm256_slli_epi32::<23>(_mm256_castps_si256(shifted[1])), bias);
                [_mm256_castsi256_ps(low), _mm256_castsi256_ps(high)]
            }
            fn count(self, first: u32, step: u32, period: u32) -> [__m256i; 2] {
                let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
                let eight = if period > 8 { 8 } else { 0 };
                let low = _mm256_and_si256(lanes, _mm256_set1_epi32(period.min(8) as i32 - 1));
                let high = _mm256_add_epi32(low, _mm256_set1_epi32(eight));
                let (first, step) = (_mm256_set1_epi32(first as i32), _mm256_set1_epi32(step as i32));
                [
                    _mm256_add_epi32(first, _mm256_mullo_epi32(low, step)),
                    _mm256_add_epi32(first, _mm256_mullo_epi32(high, step)),
                ]
            }
            fn splat_u(self, a: u32) -> [__m256i; 2] { [_mm256_set1_epi32(a as i32); 2] }
            fn mul_u(self, a: [__m256i; 2], b: u32) -> [__m256i; 2] {
                let b = _mm256_set1_epi32(b as i32);
                [_mm256_mullo_epi32(a[0], b), _mm256_mullo_epi32(a[1], b)]
            }
            fn xor_u(self, a: [__m256i; 2], b: [__m256i; 2]) -> [__m256i; 2] {
                [_mm256_xor_si256(a[0], b[0]), _mm256_xor_si256(a[1], b[1])]
            }
            fn shift_right<const BY: u32>(self, a: [__m256i; 2]) -> [__m256i; 2] {
                let by = _mm_cvtsi32_si128(BY as i32);
                [_mm256_srl_epi32(a[0], by), _mm256_srl_epi32(a[1], by)]
            }
            fn at_least(self, a: [__m256i; 2], b: u32) -> Two {
                let b = _mm256_set1_epi32(b as i32);
                let low = _mm256_cmpeq_epi32(_mm256_max_epu32(a[0], b), a[0]);
                let high = _mm256_cmpeq_epi32(_mm256_max_epu32(a[1], b), a[1]);
                [_mm256_castsi256_ps(low), _mm256_castsi256_ps(high)]
            }
        }
    }

    /// The mask of the first n of 16 lanes.
    #[inline(always)]
    fn first_of_16(n: usize) -> __mmask16 {
        if n < LANES { (1 << n) - 1 } else { !0 }
    }

    impl Simd for Avx512 {
        type V = __m512;
        type U = __m512i;
        type M = __mmask16;

        /// 6 x 64: 24 sums of the 32 registers.
        const TILE_VECTORS: usize = 4;

        #[inline(always)]
        fn lanes(self, from: usize, to: usize) -> __mmask16 {
            first_of_16(to) & !first_of_16(from)
        }

        instructions! {
            fn splat(self, x: f32) -> __m512 { _mm512_set1_ps(x) }
            fn load(self, from: &[f32; LANES]) -> __m512 { _mm512_loadu_ps(from.as_ptr()) }
            fn store(self, v: __m512, to: &mut [f32; LANES]) { _mm512_storeu_ps(to.as_mut_ptr(), v) }
            fn load_part(self, from: &[f32]) -> __m512 {
                _mm512_maskz_loadu_ps(first_of_16(from.len()), from.as_ptr())
            }
            fn store_part(self, v: __m512, to: &mut [f32]) {
                _mm512_mask_storeu_ps(to.as_mut_ptr(), first_of_16(to.len()), v)
            }
            fn repeat<const H: usize>(self, from: &[f32; H]) -> __m512 {
                match H {
                    4 => _mm512_broadcast_f32x4(_mm_loadu_ps(from.as_ptr())),
                    8 => _mm512_broadcast_f32x8(_mm256_loadu_ps(from.as_ptr())),
                    16 => _mm512_loadu_ps(from.as_ptr()),
                    _ => unreachable!("4, 8 or 16 numbers"),
                }
            }
            fn add(self, a: __m512, b: __m512) -> __m512 { _mm512_add_ps(a, b) }
            fn sub(self, a: __m512, b: __m512) -> __m512 { _mm512_sub_ps(a, b) }
            fn mul(self, a: __m512, b: __m512) -> __m512 { _mm512_mul_ps(a, b) }
            fn div(self, a: __m512, b: __m512) -> __m512 { _mm512_div_ps(a, b) }
            fn sqrt(self, a: __m512) -> __m512 { _mm512_sqrt_ps(a) }
            fn fma(self, a: __m512, b: __m512, c: __m512) -> __m512 { _mm512_fmadd_ps(a, b, c) }
            fn max(self, a: __m512, b: __m512) -> __m512 { _mm512_max_ps(a, b) }
            fn abs(self, a: __m512) -> __m512 { _mm512_abs_ps(a) }
            fn gt(self, a: __m512, b: __m512) -> __mmask16 { _mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b) }
            fn select(self, mask: __mmask16, a: __m512, b: __m512) -> __m512 { _mm512_mask_blend_ps(mask, b, a) }
            fn swap<const BY: usize>(self, v: __m512) -> __m512 {
                match BY {
                    8 => _mm512_shuffle_f32x4::<0b01_00_11_10>(v, v),
                    4 => _mm512_shuffle_f32x4::<0b10_11_00_01>(v, v),
                    2 => _mm512_permute_ps::<0b01_00_11_10>(v),
                    1 => _mm512_permute_ps::<0b10_11_00_01>(v),
                    _ => unreachable!("1, 2, 4 or 8"),
                }
            }
            fn first(self, v: __m512) -> f32 { _mm512_cvtss_f32(v) }
            fn power_of_two(self, shifted: __m512) -> __m512 {
                let bits = _mm512_slli_epi32::<23>(_mm512_castps_si512(shifted));
                _mm512_castsi512_ps(_mm512_add_epi32(bits, _mm512_set1_epi32(127 << 23)))
            }
            fn count(self, first: u32, step: u32, period: u32) -> __m512i {
                let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                let lanes = _mm512_and_si512(lanes, _mm512_set1_epi32(period as i32 - 1));
                let steps = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(step as i32));
                _mm512_add_epi32(_mm512_set1_epi32(first as i32), steps)
            }
            fn splat_u(self, a: u32) -> __m512i { _mm512_set1_epi32(a as i32) }
            fn mul_u(self, a: __m512i, b: u32) -> __m512i { _mm512_mullo_epi32(a, _mm512_set1_epi32(b as i32)) }
            fn xor_u(self, a: __m512i, b: __m512i) -> __m512i { _mm512_xor_si512(a, b) }
            fn shift_right<const BY: u32>(self, a: __m512i) -> __m512i { _mm512_srli_epi32::<BY>(a) }
            fn at_least(self, a: __m512i, b: u32) -> __mmask16 {
                _mm512_cmpge_epu32_mask(a, _mm512_set1_epi32(b as i32))
            }
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod arm {
    #[allow(clippy::wildcard_imports)]
    use std::arch::aarch64::*;

    use crate::kernel::fused::simd::{LANES, Simd};

    /// The proof of NEON.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Neon(pub(super) ());

    type Four = [float32x4_t; 4];
    type FourU = [uint32x4_t; 4];

    /// f of each register; arrays of registers stay registers once this is unrolled.
    #[inline(always)]
    fn each<A: Copy, B: Copy, O: Copy>(a: [A; 4], b: [B; 4], f: impl Fn(A, B) -> O) -> [O; 4] {
        [f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])]
    }

    impl Simd for Neon {
        type V = Four;
        type U = FourU;
        type M = FourU;

        /// 6 x 16: 24 sums of the 32 registers.
        const TILE_VECTORS: usize = 1;

        instructions! {
            fn splat(self, x: f32) -> Four { [vdupq_n_f32(x); 4] }
            fn load(self, from: &[f32; LANES]) -> Four {
                let p = from.as_ptr();
                [vld1q_f32(p), vld1q_f32(p.add(4)), vld1q_f32(p.add(8)), vld1q_f32(p.add(12))]
            }
            fn store(self, v: Four, to: &mut [f32; LANES]) {
                let p = to.as_mut_ptr();
                vst1q_f32(p, v[0]);
                vst1q_f32(p.add(4), v[1]);
                vst1q_f32(p.add(8), v[2]);
                vst1q_f32(p.add(12), v[3]);
            }
            fn load_part(self, from: &[f32]) -> Four {
                let mut whole = [0.0; LANES];
                whole[..from.len()].copy_from_slice(from);
                self.load(&whole)
            }
            fn store_part(self, v: Four, to: &mut [f32]) {
                let (mut whole, count) = ([0.0; LANES], to.len());
                self.store(v, &mut whole);
                to.copy_from_slice(&whole[..count]);
            }
            fn repeat<const H: usize>(self, from: &[f32; H]) -> Four {
                let p = from.as_ptr();
                match H {
                    4 => [vld1q_f32(p); 4],
                    8 => [vld1q_f32(p), vld1q_f32(p.add(4)), vld1q_f32(p), vld1q_f32(p.add(4))],
                    16 => [vld1q_f32(p), vld1q_f32(p.add(4)), vld1q_f32(p.add(8)), vld1q_f32(p.add(12))],
                    _ => unreachable!("4, 8 or 16 numbers"),
                }
            }
            fn add(self, a: Four, b: Four) -> Four { each(a, b, |a, b| vaddq_f32(a, b)) }
            fn sub(self, a: Four, b: Four) -> Four { each(a, b, |a, b| vsubq_f32(a, b)) }
            fn mul(self, a: Four, b: Four) -> Four { each(a, b, |a, b| vmulq_f32(a, b)) }
            fn div(self, a: Four, b: Four) -> Four { each(a, b, |a, b| vdivq_f32(a, b)) }
            fn sqrt(self, a: Four) -> Four { each(a, a, |a, _| vsqrtq_f32(a)) }
            fn fma(self, a: Four, b: Four, c: Four) -> Four {
                [
                    vfmaq_f32(c[0], a[0], b[0]),
                    vfmaq_f32(c[1], a[1], b[1]),
                    vfmaq_f32(c[2], a[2], b[2]),
                    vfmaq_f32(c[3], a[3], b[3]),
                ]
            }
            fn max(self, a: Four, b: Four) -> Four { each(a, b, |a, b| vbslq_f32(vcgtq_f32(a, b), a, b)) }
            fn abs(self, a: Four) -> Four { each(a, a, |a, _| vabsq_f32(a)) }
            fn gt(self, a: Four, b: Four) -> FourU { each(a, b, |a, b| vcgtq_f32(a, b)) }
            fn select(self, mask: FourU, a: Four, b: Four) -> Four {
                [
                    vbslq_f32(mask[0], a[0], b[0]),
                    vbslq_f32(mask[1], a[1], b[1]),
                    vbslq_f32(mask[2], a[2], b[2]),
                    vbslq_f32(mask[3], a[3], b[3]),
                ]
            }
            fn lanes(self, from: usize, to: usize) -> FourU {
                let mut lanes = [0_u32; LANES];
                lanes[from.min(to).min(LANES)..to.min(LANES)].fill(!0);
                let p = lanes.as_ptr();
                [vld1q_u32(p), vld1q_u32(p.add(4)), vld1q_u32(p.add(8)), vld1q_u32(p.add(12))]
            }
            fn swap<const BY: usize>(self, v: Four) -> Four {
                match BY {
                    8 => [v[2], v[3], v[0], v[1]],
                    4 => [v[1], v[0], v[3], v[2]],
                    2 => each(v, v, |a, _| vextq_f32::<2>(a, a)),
                    1 => each(v, v, |a, _| vrev64q_f32(a)),
                    _ => unreachable!("1, 2, 4 or 8"),
                }
            }
            fn first(self, v: Four) -> f32 { vgetq_lane_f32::<0>(v[0]) }
            fn power_of_two(self, shifted: Four) -> Four {
                let bias = vdupq_n_u32(127 << 23);
                each(shifted, shifted, |x, _| {
                    vreinterpretq_f32_u32(vaddq_u32(vshlq_n_u32::<23>(vreinterpretq_u32_f32(x)), bias))
                })
            }
            fn count(self, first: u32, step: u32, period: u32) -> FourU {
                let mut lanes = [0; LANES];
                for (lane, out) in lanes.iter_mut().enumerate() {
                    *out = first.wrapping_add((lane as u32 & (period - 1)).wrapping_mul(step));
                }
                let p = lanes.as_ptr();
                [vld1q_u32(p), vld1q_u32(p.add(4)), vld1q_u32(p.add(8)), vld1q_u32(p.add(12))]
            }
            fn splat_u(self, a: u32) -> FourU { [vdupq_n_u32(a); 4] }
            fn mul_u(self, a: FourU, b: u32) -> FourU { each(a, a, |a, _| vmulq_n_u32(a, b)) }
            fn xor_u(self, a: FourU, b: FourU) -> FourU { each(a, b, |a, b| veorq_u32(a, b)) }
            fn shift_right<const BY: u32>(self, a: FourU) -> FourU {
                let by = vdupq_n_s32(-(BY as i32));
                each(a, a, |a, _| vshlq_u32(a, by))
            }
            fn at_least(self, a: FourU, b: u32) -> FourU { each(a, a, |a, _| vcgeq_u32(a, vdupq_n_u32(b))) }
        }
    }
}
