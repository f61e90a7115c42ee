//! t-SNE (van der Maaten and Hinton, 2008), exact.
//!
//! A map shows at most a few thousand points. There the exact sums over all pairs take seconds, and need neither a tree nor another
//! dependency. It starts from PCA, which keeps the large structure (Kobak and Berens, 2019), so the seed only parts points that
//! coincide. The rate of learning is n / 12 (Belkina et al., 2019).

use pace_graph::{GOLDEN, split_mix};
use rayon::prelude::{IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::pca::Pca;

/// Components of PCA beyond this are noise to distances.
pub(super) const MAX_WIDTH: usize = 50;
/// The effective number of neighbours, if there are enough points.
const PERPLEXITY: f64 = 30.0;
/// All steps.
const N_STEPS: usize = 500;
/// Steps at the start, in which attraction counts more.
const N_EARLY: usize = 150;
/// How much more.
const EXAGGERATION: f64 = 12.0;

/// The place of each row in the plane. O(n^2) memory and time per step; rows are computed in parallel, sums in a fixed order.
pub(super) fn tsne(pca: &Pca, seed: u64) -> Vec<[f64; 2]> {
    let affinities = affinities(pca);
    let mut places = start(&pca.plane(), seed);
    let n = places.len();
    let rate = (n as f64 / EXAGGERATION).max(50.0);
    let (mut speeds, mut gains) = (vec![[0.0; 2]; n], vec![[1.0_f64; 2]; n]);
    for step in 0..N_STEPS {
        let is_early = step < N_EARLY;
        let (attraction, momentum) = if is_early { (EXAGGERATION, 0.5) } else { (1.0, 0.8) };
        let gradients = gradients(&affinities, &places, attraction);
        for point in 0..n {
            for axis in 0..2 {
                // A coordinate that keeps its direction speeds up, one that swings slows down (Jacobs, 1988).
                let (gradient, speed) = (gradients[point][axis], speeds[point][axis]);
                let gain = gains[point][axis];
                gains[point][axis] =
                    if (gradient > 0.0) == (speed > 0.0) { (gain * 0.8).max(0.01) } else { gain + 0.2 };
                speeds[point][axis] = momentum * speed - rate * gains[point][axis] * gradient;
                places[point][axis] += speeds[point][axis];
            }
        }
    }
    places
}

/// PCA, made small, and every point moved by a hair.
fn start(plane: &[[f64; 2]], seed: u64) -> Vec<[f64; 2]> {
    let n = plane.len().max(1) as f64;
    let deviation = (plane.iter().map(|place| place[0] * place[0]).sum::<f64>() / n).sqrt();
    let unit = if deviation > 0.0 { 1e-4 / deviation } else { 0.0 };
    let hair = |index: usize| {
        let bits = split_mix(split_mix(seed).wrapping_add((index as u64 + 1).wrapping_mul(GOLDEN)));
        1e-6 * ((bits >> 11) as f64 / (1_u64 << 53) as f64 - 0.5)
    };
    let moved = |(point, place): (usize, &[f64; 2])| [0, 1].map(|axis| place[axis] * unit + hair(2 * point + axis));
    plane.iter().enumerate().map(moved).collect()
}

/// The symmetric affinities of all pairs, row by row; they add up to 1.
fn affinities(pca: &Pca) -> Vec<Vec<f64>> {
    let rows: Vec<&[f64]> = pca.rows().collect();
    let n = rows.len();
    let perplexity = PERPLEXITY.min((n as f64 - 1.0) / 3.0).max(1.0);
    let one_way: Vec<Vec<f64>> =
        (0..n).into_par_iter().map(|point| conditional(&rows, point, perplexity.ln())).collect();
    let both = |point: usize| {
        let pairs = (0..n).map(|other| (one_way[point][other] + one_way[other][point]) / (2.0 * n as f64));
        pairs.collect()
    };
    (0..n).into_par_iter().map(both).collect()
}

/// The affinities of one point to all others: a Gaussian whose width gives the wanted entropy.
fn conditional(rows: &[&[f64]], point: usize, entropy: f64) -> Vec<f64> {
    let square = |other: &&[f64]| rows[point].iter().zip(*other).map(|(one, other)| (one - other).powi(2)).sum::<f64>();
    let mut squares: Vec<f64> = rows.iter().map(square).collect();
    // Only differences from the nearest neighbour matter; without it all weights may vanish. The mean sets the scale.
    let others = || (0..rows.len()).filter(|&other| other != point);
    let nearest = others().map(|other| squares[other]).fold(f64::INFINITY, f64::min);
    squares.iter_mut().for_each(|square| *square = (*square - nearest).max(0.0));
    let mean = others().map(|other| squares[other]).sum::<f64>() / (rows.len() as f64 - 1.0).max(1.0);
    let (mut beta, mut low, mut high) = (if mean > 0.0 { 1.0 / mean } else { 1.0 }, 0.0, f64::INFINITY);
    let mut weights = vec![0.0; rows.len()];
    for _ in 0..60 {
        let (mut sum, mut dot) = (0.0, 0.0);
        for other in others() {
            weights[other] = (-beta * squares[other]).exp();
            sum += weights[other];
            dot += weights[other] * squares[other];
        }
        let found = sum.ln() + beta * dot / sum;
        weights.iter_mut().for_each(|weight| *weight /= sum);
        if (found - entropy).abs() < 1e-5 {
            break;
        }
        if found > entropy {
            low = beta;
            beta = if high.is_finite() { (beta + high) / 2.0 } else { (2.0 * beta).min(1e200) };
        } else {
            high = beta;
            beta = (beta + low) / 2.0;
        }
    }
    weights
}

/// The gradient of the Kullback-Leibler divergence for every point.
fn gradients(affinities: &[Vec<f64>], places: &[[f64; 2]], attraction: f64) -> Vec<[f64; 2]> {
    // One pass: the repulsion has the sum over all pairs in its denominator, which is known at the end.
    let of_point = |(place, row): (&[f64; 2], &Vec<f64>)| {
        let (mut pull, mut push, mut sum) = ([0.0; 2], [0.0; 2], 0.0);
        for (other, affinity) in places.iter().zip(row) {
            let apart = [place[0] - other[0], place[1] - other[1]];
            let closeness = 1.0 / (1.0 + apart[0] * apart[0] + apart[1] * apart[1]);
            sum += closeness;
            for axis in 0..2 {
                pull[axis] += affinity * closeness * apart[axis];
                push[axis] += closeness * closeness * apart[axis];
            }
        }
        // A point is not its own neighbour; its closeness to itself is 1.
        (pull, push, sum - 1.0)
    };
    let parts: Vec<_> = places.par_iter().zip(affinities).map(of_point).collect();
    let total: f64 = parts.iter().map(|part| part.2).sum::<f64>().max(f64::MIN_POSITIVE);
    let gradient = |pull: f64, push: f64| 4.0 * (attraction * pull - push / total);
    parts.iter().map(|(pull, push, _)| [0, 1].map(|axis| gradient(pull[axis], push[axis]))).collect()
}

#[cfg(test)]
mod tests {
    use pace_graph::Vectors;

    use super::*;

    fn clusters() -> Vectors {
        let number = |index: usize| (split_mix(index as u64) >> 40) as f32 / (1 << 24) as f32;
        let row = |row: usize| {
            (0..8).map(move |column| number(8 * row + column) + if column == row % 3 { 20.0 } else { 0.0 })
        };
        Vectors::new((0..90).flat_map(row).collect(), 8)
    }

    #[test]
    fn clusters_stay_apart_and_seeds_repeat() {
        let pca = Pca::of(&clusters(), MAX_WIDTH).unwrap();
        let places = tsne(&pca, 1);
        assert_eq!(places, tsne(&pca, 1));
        let distance = |one: usize, other: usize| {
            (0..2).map(|axis| (places[one][axis] - places[other][axis]).powi(2)).sum::<f64>()
        };
        let nearest = |point: usize| {
            let others = (0..90).filter(|&other| other != point);
            others.min_by(|&one, &other| distance(point, one).total_cmp(&distance(point, other))).unwrap()
        };
        assert!((0..90).all(|point| nearest(point) % 3 == point % 3));
    }

    #[test]
    fn points_that_coincide_are_no_trouble() {
        for vectors in [Vectors::new(vec![1.0; 40], 4), Vectors::new(vec![f32::MAX, f32::MIN, 0.0, f32::MAX], 1)] {
            let places = tsne(&Pca::of(&vectors, MAX_WIDTH).unwrap(), 0);
            assert!(places.iter().flatten().all(|place| place.is_finite()), "{places:?}");
        }
    }
}
