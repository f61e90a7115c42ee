//! The clock of the benches.

use std::time::Instant;

/// The seconds of the fastest of a few runs, which is the least disturbed.
pub fn best<T>(runs: usize, mut run: impl FnMut() -> T) -> f64 {
    let once = |_| {
        let start = Instant::now();
        std::hint::black_box(run());
        start.elapsed().as_secs_f64()
    };
    (0..runs).map(once).fold(f64::INFINITY, f64::min)
}
