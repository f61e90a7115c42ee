//! How well one list of numbers predicts another.

/// Root of the mean squared difference.
///
/// # Panics
/// As all functions here: if the lists are empty or differ in length.
pub fn rmse(predicted: &[f64], actual: &[f64]) -> f64 {
    check(predicted, actual);
    let squares = predicted.iter().zip(actual).map(|(p, a)| (p - a) * (p - a));
    (squares.sum::<f64>() / actual.len() as f64).sqrt()
}

/// Pearson's correlation: `cov(p, a) / (std(p) std(a))`; not a number if one list is constant.
pub fn pearson(predicted: &[f64], actual: &[f64]) -> f64 {
    check(predicted, actual);
    let (mean_p, mean_a) = (mean(predicted), mean(actual));
    let (mut pp, mut aa, mut pa) = (0.0, 0.0, 0.0);
    for (p, a) in predicted.iter().zip(actual) {
        let (p, a) = (p - mean_p, a - mean_a);
        pp += p * p;
        aa += a * a;
        pa += p * a;
    }
    pa / (pp * aa).sqrt()
}

/// Spearman's correlation: Pearson's of the ranks, ties sharing their mean rank.
pub fn spearman(predicted: &[f64], actual: &[f64]) -> f64 {
    pearson(&ranks(predicted), &ranks(actual))
}

/// The rank of every number, from 0; equal ones share their mean rank.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for run in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = first as f64 + (run.len() as f64 - 1.0) / 2.0;
        run.iter().for_each(|&index| ranks[index] = rank);
        first += run.len();
    }
    ranks
}

/// Kendall's tau-b, in O(n log n) (Knight, 1966):
/// `(concordant - discordant) / sqrt((pairs - ties_p) (pairs - ties_a))`.
pub fn kendall(predicted: &[f64], actual: &[f64]) -> f64 {
    check(predicted, actual);
    let mut pairs: Vec<(f64, f64)> = predicted.iter().copied().zip(actual.iter().copied()).collect();
    pairs.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.total_cmp(&y.1)));
    let n_pairs = |n: usize| n as f64 * (n as f64 - 1.0) / 2.0;
    let ties = |runs: &mut dyn Iterator<Item = usize>| runs.map(n_pairs).sum::<f64>();
    let both = ties(&mut pairs.chunk_by(|x, y| x == y).map(<[_]>::len));
    let ties_p = ties(&mut pairs.chunk_by(|x, y| x.0 == y.0).map(<[_]>::len));
    let mut a: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
    let discordant = count_inversions(&mut a) as f64;
    // Now sorted.
    let ties_a = ties(&mut a.chunk_by(|x, y| x == y).map(<[_]>::len));
    let all = n_pairs(a.len());
    let concordant = all - ties_p - ties_a + both - discordant;
    (concordant - discordant) / ((all - ties_p) * (all - ties_a)).sqrt()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn check(predicted: &[f64], actual: &[f64]) {
    assert_eq!(predicted.len(), actual.len(), "one prediction per value");
    assert!(!actual.is_empty(), "nothing to compare");
}

/// Sorts and counts the pairs that were in the wrong order.
fn count_inversions(values: &mut [f64]) -> u64 {
    if values.len() < 2 {
        return 0;
    }
    let middle = values.len() / 2;
    let (left, right) = values.split_at_mut(middle);
    let mut count = count_inversions(left) + count_inversions(right);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut i, mut j) = (0, 0);
    while i < left.len() || j < right.len() {
        if j == right.len() || (i < left.len() && left[i] <= right[j]) {
            merged.push(left[i]);
            i += 1;
        } else {
            merged.push(right[j]);
            // All that is left of `left` is larger.
            count += (left.len() - i) as u64;
            j += 1;
        }
    }
    values.copy_from_slice(&merged);
    count
}
