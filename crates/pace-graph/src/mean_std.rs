//! [`mean_std`]: where numbers lie and how far they spread.

/// Mean and population standard deviation; not a number if there are none. Two passes.
///
/// ```
/// assert_eq!(pace_graph::mean_std([1.0, 3.0].into_iter()), (2.0, 1.0));
/// ```
pub fn mean_std(numbers: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let (mut n, mut sum) = (0_usize, 0.0);
    numbers.clone().for_each(|number| {
        n += 1;
        sum += number;
    });
    let mean = sum / n as f64;
    let squares: f64 = numbers.map(|number| (number - mean) * (number - mean)).sum();
    (mean, (squares / n as f64).sqrt())
}
