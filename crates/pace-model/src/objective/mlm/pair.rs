//! [`metric_pairs`]: which graphs the published MLM code shows together.

use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;

/// Pairs of graphs of similar cost (Yan et al., CATE, 2021): in ascending order of `metric`, each graph with up to `k`
/// graphs before it whose metric is at most `window` smaller, drawn uniformly without replacement.
///
/// Published: NAS-Bench-101 pairs by trainable parameters with k = 2 and window 2,000,000, NAS-Bench-301 by floating point
/// operations with k = 1 and window 5,000,000, unseeded. Equal metrics keep their order. Returns `(graph, earlier graph)`;
/// flattened, the indices make batches for a pair encoder. O(n log n + pairs).
///
/// ```
/// use pace_model::objective::metric_pairs;
/// assert_eq!(metric_pairs(&[5.0, 1.0, 2.0], 1, 1.5, 0), [(2, 1)]);
/// ```
///
/// # Panics
/// If a metric is not a number.
pub fn metric_pairs(metric: &[f64], k: usize, window: f64, seed: u64) -> Vec<(usize, usize)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..metric.len()).collect();
    order.sort_by(|&a, &b| metric[a].partial_cmp(&metric[b]).expect("metrics are numbers"));
    let (mut pairs, mut first) = (Vec::new(), 0);
    for (place, &graph) in order.iter().enumerate() {
        while metric[order[first]] < metric[graph] - window {
            first += 1;
        }
        let near = place - first;
        let chosen = sample(&mut rng, near, k.min(near));
        pairs.extend(chosen.into_iter().map(|offset| (graph, order[first + offset])));
    }
    pairs
}
