//! The vector instructions that the kernels are written in: sixteen lanes of f32 on every CPU.
//!
//! A vector is one register of AVX-512, two of AVX2, four of NEON, or an array ([`Portable`]). It has sixteen lanes everywhere, and a
//! multiply-add rounds once everywhere. So a kernel has one source and gives the same bits on every [`Level`] (sign and payload of a
//! NaN may differ). What a compiler makes of plain loops differs from CPU to CPU; these methods are instructions.
//!
//! [`arch`] holds the instructions and all unchecked code, [`slices`] the loops over rows of any length.

mod arch;
mod portable;
mod slices;

#[cfg(target_arch = "aarch64")]
pub(crate) use arch::Neon;
#[cfg(target_arch = "x86_64")]
pub(crate) use arch::{Avx2, Avx512};
pub(crate) use arch::{Level, kernel, level};
pub(crate) use portable::Portable;
pub(crate) use slices::{add_scaled, chunks, dot, get, map, put, sum};

/// Lanes of a vector.
pub(crate) const LANES: usize = 16;

/// The instructions of one level. A value of an implementing type is the proof that this CPU has them.
///
/// Every method is compiled into its caller, which [`kernel!`] compiles for the level.
pub(crate) trait Simd: Copy + Send + Sync + std::fmt::Debug + 'static {
    /// Sixteen f32.
    type V: Copy;
    /// Sixteen u32.
    type U: Copy;
    /// Sixteen conditions.
    type M: Copy;

    /// Vectors in a row of a tile of a product: with 6 rows, as many sums as the registers hold.
    const TILE_VECTORS: usize;

    /// x in every lane.
    fn splat(self, x: f32) -> Self::V;
    fn load(self, from: &[f32; LANES]) -> Self::V;
    fn store(self, v: Self::V, to: &mut [f32; LANES]);
    /// Up to sixteen numbers, then zeros.
    fn load_part(self, from: &[f32]) -> Self::V;
    /// The first lanes, up to sixteen.
    fn store_part(self, v: Self::V, to: &mut [f32]);
    /// H numbers (4, 8 or 16), repeated until the vector is full.
    fn repeat<const H: usize>(self, from: &[f32; H]) -> Self::V;
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    fn sqrt(self, a: Self::V) -> Self::V;
    /// a * b + c in one rounding.
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// a if a > b, else b; so b if one of them is a NaN.
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    fn abs(self, a: Self::V) -> Self::V;
    fn gt(self, a: Self::V, b: Self::V) -> Self::M;
    /// a if the condition holds, else b.
    fn select(self, mask: Self::M, a: Self::V, b: Self::V) -> Self::V;
    /// True in lanes `from..to`.
    fn lanes(self, from: usize, to: usize) -> Self::M;
    /// Lane l gets lane l ^ BY; BY is 1, 2, 4 or 8.
    fn swap<const BY: usize>(self, v: Self::V) -> Self::V;
    /// Lane 0.
    fn first(self, v: Self::V) -> f32;
    /// 2^n of n + 1.5 * 2^23.
    fn power_of_two(self, shifted: Self::V) -> Self::V;
    /// Lane l is first + (l mod period) * step; the period is 4, 8 or 16.
    fn count(self, first: u32, step: u32, period: u32) -> Self::U;
    fn splat_u(self, a: u32) -> Self::U;
    fn mul_u(self, a: Self::U, b: u32) -> Self::U;
    fn xor_u(self, a: Self::U, b: Self::U) -> Self::U;
    fn shift_right<const BY: u32>(self, a: Self::U) -> Self::U;
    fn at_least(self, a: Self::U, b: u32) -> Self::M;

    /// Zero in every lane.
    #[inline(always)]
    fn zero(self) -> Self::V {
        self.splat(0.0)
    }

    /// Each lane l becomes the sum of the lanes with the same l mod H.
    #[inline(always)]
    fn across<const H: usize>(self, v: Self::V) -> Self::V {
        let v = if H < 16 { self.add(v, self.swap::<8>(v)) } else { v };
        let v = if H < 8 { self.add(v, self.swap::<4>(v)) } else { v };
        let v = if H < 4 { self.add(v, self.swap::<2>(v)) } else { v };
        if H < 2 { self.add(v, self.swap::<1>(v)) } else { v }
    }

    /// Each lane l becomes the largest of the lanes with the same l mod H.
    #[inline(always)]
    fn max_across<const H: usize>(self, v: Self::V) -> Self::V {
        let v = if H < 16 { self.max(v, self.swap::<8>(v)) } else { v };
        let v = if H < 8 { self.max(v, self.swap::<4>(v)) } else { v };
        let v = if H < 4 { self.max(v, self.swap::<2>(v)) } else { v };
        if H < 2 { self.max(v, self.swap::<1>(v)) } else { v }
    }

    /// The sum of all lanes.
    #[inline(always)]
    fn total(self, v: Self::V) -> f32 {
        self.first(self.across::<1>(v))
    }

    /// e^x for x <= 0 to 1e-7 relative; exactly 0 under -87, so that no denormal number slows the loops after it.
    ///
    /// Cody-Waite reduction x = n ln 2 + r and the degree-5 polynomial of Cephes on r, then 2^n through the exponent bits.
    #[inline(always)]
    fn exp(self, x: Self::V) -> Self::V {
        // 1.5 * 2^23: adding and subtracting it rounds to an integer, which is then in the low bits.
        let (round, lowest) = (self.splat(12_582_912.0), self.splat(-87.0));
        let t = self.max(x, lowest);
        let shifted = self.add(self.mul(t, self.splat(std::f32::consts::LOG2_E)), round);
        let n = self.sub(shifted, round);
        let r = self.fma(n, self.splat(-0.693_359_4), t);
        let r = self.fma(n, self.splat(2.121_944_4e-4), r);
        let p = self.splat(1.987_569_1e-4);
        let p = self.fma(p, r, self.splat(1.398_199_9e-3));
        let p = self.fma(p, r, self.splat(8.333_452e-3));
        let p = self.fma(p, r, self.splat(4.166_579_6e-2));
        let p = self.fma(p, r, self.splat(1.666_666_5e-1));
        let p = self.fma(p, r, self.splat(5e-1));
        let y = self.add(self.fma(p, self.mul(r, r), r), self.splat(1.0));
        let y = self.mul(y, self.power_of_two(shifted));
        self.select(self.gt(x, lowest), y, self.zero())
    }
}
