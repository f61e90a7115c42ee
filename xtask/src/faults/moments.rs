//! [`Moments`]: random moments that a seed repeats.

/// SplitMix64 (Steele, Lea and Flood, 2014): enough for choosing moments, without a dependency.
pub struct Moments {
    state: u64,
}

impl Moments {
    pub fn new(seed: u64) -> Moments {
        Moments { state: seed }
    }

    /// From 0 to below 1.
    pub fn draw(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::Moments;

    #[test]
    fn a_seed_repeats_its_moments_and_they_are_spread() {
        let draw = |seed| {
            let mut moments = Moments::new(seed);
            (0..1000).map(|_| moments.draw()).collect::<Vec<f64>>()
        };
        assert_eq!(draw(1), draw(1));
        let draws = draw(2);
        assert!(draws.iter().all(|moment| (0.0..1.0).contains(moment)));
        assert!((draws.iter().sum::<f64>() / 1000.0 - 0.5).abs() < 0.05);
    }
}
