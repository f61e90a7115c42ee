//! Sixteen lanes as an array, for CPUs whose vectors we do not know.
//!
//! `Portable<true>` gives the bits of every other level: a multiply-add rounds once, by an instruction if the target has one,
//! else through double precision, which is many times slower. `Portable<false>` rounds twice there and so gives other bits; it is
//! for CPUs that have no such instruction at all.

use super::{LANES, Simd};

/// Plain arrays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable<const FUSED: bool>;

type V = [f32; LANES];

#[inline(always)]
fn each(a: V, b: V, f: impl Fn(f32, f32) -> f32) -> V {
    let mut out = [0.0; LANES];
    for lane in 0..LANES {
        out[lane] = f(a[lane], b[lane]);
    }
    out
}

#[inline(always)]
fn each_u(a: [u32; LANES], f: impl Fn(u32) -> u32) -> [u32; LANES] {
    let mut out = [0; LANES];
    for lane in 0..LANES {
        out[lane] = f(a[lane]);
    }
    out
}

impl<const FUSED: bool> Simd for Portable<FUSED> {
    type V = V;
    type U = [u32; LANES];
    type M = [bool; LANES];

    const TILE_VECTORS: usize = 1;

    #[inline(always)]
    fn splat(self, x: f32) -> V {
        [x; LANES]
    }
    #[inline(always)]
    fn load(self, from: &[f32; LANES]) -> V {
        *from
    }
    #[inline(always)]
    fn store(self, v: V, to: &mut [f32; LANES]) {
        *to = v;
    }
    #[inline(always)]
    fn load_part(self, from: &[f32]) -> V {
        let mut v = [0.0; LANES];
        v[..from.len()].copy_from_slice(from);
        v
    }
    #[inline(always)]
    fn store_part(self, v: V, to: &mut [f32]) {
        let count = to.len();
        to.copy_from_slice(&v[..count]);
    }
    #[inline(always)]
    fn repeat<const H: usize>(self, from: &[f32; H]) -> V {
        let mut v = [0.0; LANES];
        v.as_chunks_mut::<H>().0.fill(*from);
        v
    }
    #[inline(always)]
    fn add(self, a: V, b: V) -> V {
        each(a, b, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, a: V, b: V) -> V {
        each(a, b, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, a: V, b: V) -> V {
        each(a, b, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, a: V, b: V) -> V {
        each(a, b, |a, b| a / b)
    }
    #[inline(always)]
    fn sqrt(self, a: V) -> V {
        each(a, a, |a, _| a.sqrt())
    }
    #[inline(always)]
    fn fma(self, a: V, b: V, c: V) -> V {
        let mut out = [0.0; LANES];
        for lane in 0..LANES {
            out[lane] = if FUSED { fma(a[lane], b[lane], c[lane]) } else { a[lane] * b[lane] + c[lane] };
        }
        out
    }
    #[inline(always)]
    fn max(self, a: V, b: V) -> V {
        each(a, b, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn abs(self, a: V) -> V {
        each(a, a, |a, _| a.abs())
    }
    #[inline(always)]
    fn gt(self, a: V, b: V) -> [bool; LANES] {
        let mut out = [false; LANES];
        for lane in 0..LANES {
            out[lane] = a[lane] > b[lane];
        }
        out
    }
    #[inline(always)]
    fn select(self, mask: [bool; LANES], a: V, b: V) -> V {
        let mut out = b;
        for lane in 0..LANES {
            out[lane] = if mask[lane] { a[lane] } else { b[lane] };
        }
        out
    }
    #[inline(always)]
    fn lanes(self, from: usize, to: usize) -> [bool; LANES] {
        let mut out = [false; LANES];
        for (lane, out) in out.iter_mut().enumerate() {
            *out = from <= lane && lane < to;
        }
        out
    }
    #[inline(always)]
    fn swap<const BY: usize>(self, v: V) -> V {
        let mut out = v;
        for lane in 0..LANES {
            out[lane] = v[lane ^ BY];
        }
        out
    }
    #[inline(always)]
    fn first(self, v: V) -> f32 {
        v[0]
    }
    #[inline(always)]
    fn power_of_two(self, shifted: V) -> V {
        each(shifted, shifted, |x, _| f32::from_bits((x.to_bits() << 23).wrapping_add(127 << 23)))
    }
    #[inline(always)]
    fn count(self, first: u32, step: u32, period: u32) -> [u32; LANES] {
        let mut out = [0; LANES];
        for (lane, out) in out.iter_mut().enumerate() {
            *out = first.wrapping_add((lane as u32 % period).wrapping_mul(step));
        }
        out
    }
    #[inline(always)]
    fn mul_u(self, a: [u32; LANES], b: u32) -> [u32; LANES] {
        each_u(a, |a| a.wrapping_mul(b))
    }
    #[inline(always)]
    fn xor_u(self, a: [u32; LANES], b: [u32; LANES]) -> [u32; LANES] {
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = a[lane] ^ b[lane];
        }
        out
    }
    #[inline(always)]
    fn splat_u(self, a: u32) -> [u32; LANES] {
        [a; LANES]
    }
    #[inline(always)]
    fn shift_right<const BY: u32>(self, a: [u32; LANES]) -> [u32; LANES] {
        each_u(a, |a| a >> BY)
    }
    #[inline(always)]
    fn at_least(self, a: [u32; LANES], b: u32) -> [bool; LANES] {
        let mut out = [false; LANES];
        for lane in 0..LANES {
            out[lane] = a[lane] >= b;
        }
        out
    }
}

/// a * b + c in one rounding.
///
/// Without an instruction for it: the product is exact in double precision, and the sum is rounded to odd there, after which the
/// rounding to single precision is as good as one of the exact value (Boldo and Melquiond, 2008). The library's own function
/// gives the same and takes ten times as long.
#[inline(always)]
fn fma(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(any(target_feature = "fma", target_arch = "aarch64", target_arch = "riscv64")) {
        return a.mul_add(b, c);
    }
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    let rest = sum - product;
    let error = (product - (sum - rest)) + (c - rest);
    // The neighbour on the side of the error, if the sum is not odd already.
    let away = (sum < 0.0) != (error < 0.0);
    let even = (sum.to_bits() & 1) ^ 1;
    let inexact = u64::from(error.abs() > 0.0);
    let step = (even & inexact) as i64;
    f64::from_bits(sum.to_bits().wrapping_add_signed(if away { -step } else { step })) as f32
}

#[cfg(test)]
mod tests {
    use super::fma;
    use rand::{RngExt, SeedableRng};

    /// Random bits of every exponent, and cases in which the sum lies next to the middle between two numbers.
    #[test]
    fn multiply_add_rounds_once() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let mut number = |tight: bool| {
            let bits: u32 = rng.random();
            f32::from_bits(if tight { (bits & 0x80ff_ffff) | 0x3f00_0000 } else { bits })
        };
        for case in 0..400_000 {
            let [a, b, c] = [(); 3].map(|()| number(case % 2 == 0));
            let c = if case % 4 == 0 { c * 2f32.powi(case % 60 - 30) } else { c };
            let (got, want) = (fma(a, b, c), a.mul_add(b, c));
            assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{a} * {b} + {c}: {got} {want}");
        }
    }
}
