//! Sums over the rows of the data, in blocks, on all threads.

use std::ops::Range;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

/// Rows per block: enough for a matrix product to run at full speed.
pub(crate) const BLOCK: usize = 256;
/// More shards balance threads better, but need memory for more partial sums.
const MAX_SHARDS: usize = 16;

/// Sums `add` over blocks that cover `0..n_rows`.
///
/// The shards and the order of the sums depend only on `n_rows`, so the result does not depend on the number of threads.
pub(crate) fn sum_over_rows<A: Send>(
    n_rows: usize,
    zero: impl Fn() -> A + Sync,
    add: impl Fn(&mut A, Range<usize>) + Sync,
    merge: impl Fn(&mut A, A),
) -> A {
    let n_shards = n_rows.div_ceil(BLOCK).clamp(1, MAX_SHARDS);
    let shard = |index: usize| {
        let mut sum = zero();
        let (first, last) = (n_rows * index / n_shards, n_rows * (index + 1) / n_shards);
        for start in (first..last).step_by(BLOCK) {
            add(&mut sum, start..(start + BLOCK).min(last));
        }
        sum
    };
    let mut parts = (0..n_shards).into_par_iter().map(shard).collect::<Vec<A>>().into_iter();
    let mut total = parts.next().expect("there is at least one shard");
    parts.for_each(|part| merge(&mut total, part));
    total
}
