//! Dropout from counters: a mask is a pure function of (seed, site, element index), never drawn from a shared generator.
//!
//! keep(e) = [ hash(seed, site, e) >= p * 2^32 ],  drop(x)_e = keep(e) * x_e / (1 - p)
//!
//! The fused kernels hash inside their loops and the plain twins build the same mask as a tensor, so both give the same
//! numbers with dropout on, in any order of evaluation and on any number of threads.

use burn::tensor::{Device, Tensor, TensorData};
use pace_graph::{GOLDEN, split_mix};

#[cfg(feature = "flex")]
use super::fused::simd::{LANES, Simd};

/// Dropout of one call: the probability of dropping an element and the seed of the masks.
///
/// The caller changes the seed at every step and every call. The kernel tells the sites inside one call apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dropout {
    p: f64,
    seed: u64,
}

impl Dropout {
    /// No dropout: evaluation mode.
    pub const NONE: Self = Self { p: 0.0, seed: 0 };

    /// Drops each element with probability `p`.
    ///
    /// # Panics
    ///
    /// Unless 0 <= p < 1.
    pub fn new(p: f64, seed: u64) -> Self {
        assert!((0.0..1.0).contains(&p), "dropout probability {p} is not in [0, 1)");
        Self { p, seed }
    }

    /// Drops elements of a tensor outside the kernels; `site` tells calls under one seed apart.
    pub fn apply<const D: usize>(self, site: usize, x: Tensor<D>) -> Tensor<D> {
        let site = self.site(site);
        if !site.is_on() {
            return x;
        }
        let mask = site.mask(x.dims(), &x.device());
        x * mask
    }

    /// The masks of one site in the network; different sites of one seed are independent.
    pub(crate) fn site(self, site: usize) -> Site {
        let key = spread(self.seed ^ spread(site as u64 + 1));
        Site {
            key: [key as u32, (key >> 32) as u32],
            threshold: (self.p * 4_294_967_296.0) as u32,
            scale: (1.0 / (1.0 - self.p)) as f32,
        }
    }
}

/// One site at which dropout is applied, with everything the inner loops need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site {
    key: [u32; 2],
    threshold: u32,
    /// 1 / (1 - p).
    pub(crate) scale: f32,
}

impl Site {
    /// Whether anything is dropped at all.
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        self.threshold > 0
    }

    /// Whether the element with this index is kept. Two multiplications and shifts, so that it vectorises.
    #[inline(always)]
    pub(crate) fn keep(&self, index: u32) -> bool {
        let mut x = index.wrapping_mul(0x9E37_79B1) ^ self.key[0];
        x = (x ^ (x >> 15)).wrapping_mul(0x2C1B_3C6D);
        x = (x ^ (x >> 12) ^ self.key[1]).wrapping_mul(0x297A_2D39);
        (x ^ (x >> 15)) >= self.threshold
    }

    /// 1 / (1 - p) for a kept element, else 0.
    #[inline(always)]
    pub(crate) fn factor(&self, index: u32) -> f32 {
        if self.keep(index) { self.scale } else { 0.0 }
    }

    /// The factors of a whole tensor, indexed in row-major order: what the plain twins multiply by.
    pub(crate) fn mask<const D: usize>(&self, shape: [usize; D], device: &Device) -> Tensor<D> {
        let count = shape.iter().product::<usize>();
        // The index wraps at 2^32 elements, here as in the kernels.
        let factors: Vec<f32> = (0..count).map(|index| self.factor(index as u32)).collect();
        Tensor::from_data(TensorData::new(factors, shape), device)
    }
}

#[cfg(feature = "flex")]
impl Site {
    /// What a kept element is multiplied by: 1 if nothing is dropped.
    #[inline(always)]
    pub(crate) fn kept_scale(&self) -> f32 {
        if self.is_on() { self.scale } else { 1.0 }
    }

    /// [`Site::keep`] of several elements at a time.
    #[inline(always)]
    pub(crate) fn keep_lanes<S: Simd>(&self, s: S, index: S::U) -> S::M {
        let x = s.xor_u(s.mul_u(index, 0x9E37_79B1), s.splat_u(self.key[0]));
        let x = s.mul_u(s.xor_u(x, s.shift_right::<15>(x)), 0x2C1B_3C6D);
        let x = s.mul_u(s.xor_u(s.xor_u(x, s.shift_right::<12>(x)), s.splat_u(self.key[1])), 0x297A_2D39);
        s.at_least(s.xor_u(x, s.shift_right::<15>(x)), self.threshold)
    }

    /// [`Site::factor`] of the elements from this index on.
    #[inline(always)]
    pub(crate) fn factors<S: Simd>(&self, s: S, first: usize) -> S::V {
        let keep = self.keep_lanes(s, s.count(first as u32, 1, LANES as u32));
        s.select(keep, s.splat(self.scale), s.zero())
    }
}

/// A number that depends on every bit of `value`: neighbouring seeds share nothing.
fn spread(value: u64) -> u64 {
    split_mix(value.wrapping_add(GOLDEN))
}

#[cfg(test)]
mod tests {
    use super::Dropout;

    /// The share of kept elements is 1 - p, and neither neighbours, sites nor seeds share a mask.
    #[test]
    fn masks_are_balanced_and_uncorrelated() {
        let count = 1 << 16;
        let draw = |seed, site| {
            let site = Dropout::new(0.3, seed).site(site);
            (0..count).map(|index| site.keep(index)).collect::<Vec<_>>()
        };
        let base = draw(7, 0);
        let share = |mask: &[bool]| mask.iter().filter(|&&keep| keep).count() as f64 / mask.len() as f64;
        assert!((share(&base) - 0.7).abs() < 0.01);
        let shifted: Vec<bool> = base[1..].iter().copied().chain([base[0]]).collect();
        for other in [shifted, draw(7, 1), draw(8, 0), draw(7 + (1 << 32), 0)] {
            let both: Vec<bool> = base.iter().zip(&other).map(|(a, b)| a & b).collect();
            assert!((share(&both) - 0.49).abs() < 0.01, "{}", share(&both));
        }
    }
}
