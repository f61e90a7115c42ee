//! [`length_buckets`]: batches of graphs of similar length.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Cuts `indices` into batches of similar length, in random order, such that padding each to its longest graph takes at
/// most `max_nodes` rows; a larger graph is a batch by itself.
///
/// Graphs of equal length are shuffled among the batches, and the batches themselves; the same seed gives the same batches.
///
/// ```
/// use pace_model::ast::length_buckets;
/// let mut batches = length_buckets(&[0, 1, 2, 3], &[9, 2, 10, 3], 20, 7);
/// batches.iter_mut().for_each(|batch| batch.sort());
/// batches.sort();
/// assert_eq!(batches, [[0, 2], [1, 3]]);
/// ```
pub fn length_buckets(indices: &[usize], lengths: &[usize], max_nodes: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut order = indices.to_vec();
    order.shuffle(&mut rng);
    // From the largest down, so that the first graph of a batch is its longest.
    order.sort_by_key(|&index| std::cmp::Reverse(lengths[index]));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    for index in order {
        match batches.last_mut() {
            Some(batch) if (batch.len() + 1) * lengths[batch[0]] <= max_nodes => batch.push(index),
            _ => batches.push(vec![index]),
        }
    }
    batches.shuffle(&mut rng);
    batches
}
