//! [`split_mix`]: one number to another, for hashes and streams of seeds.

/// The odd number nearest to 2^64 / golden ratio: the step of SplitMix64.
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64 (Steele, Lea & Flood 2014): a bijection in which every bit depends on every bit.
///
/// The generator of that name gives `split_mix(seed + k * GOLDEN)` for `k = 1, 2, ..`.
///
/// ```
/// use pace_graph::{GOLDEN, split_mix};
/// assert_eq!(split_mix(GOLDEN), 0xe220_a839_7b1d_cdaf); // the first number of seed 0
/// ```
#[inline]
pub const fn split_mix(number: u64) -> u64 {
    let mut z = number;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
