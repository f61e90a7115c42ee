//! Which points a map shows.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{MapConfig, MapData};

/// t-SNE keeps a number per pair of points.
const MOST_POINTS: usize = 4_000;

/// The points of a map.
pub(super) struct Sample {
    /// Their rows, those with the best scores last: they are drawn over the others.
    pub points: Vec<usize>,
    /// What was left out, as sentences.
    pub note: String,
}

/// All points with finite numbers, or a random sample of them with the best point among it.
pub(super) fn sample(data: &MapData<'_>, config: &MapConfig) -> Sample {
    let is_finite =
        |&row: &usize| data.scores[row].is_finite() && data.vectors.row(row).iter().all(|number| number.is_finite());
    let n_all = data.scores.len();
    let mut points: Vec<usize> = (0..n_all).filter(is_finite).collect();
    let (n_finite, n_wanted) = (points.len(), config.max_points.clamp(1, MOST_POINTS));
    points.sort_by(|&one, &other| data.scores[one].total_cmp(&data.scores[other]));
    if n_finite > n_wanted {
        let best = points.pop();
        points.shuffle(&mut ChaCha8Rng::seed_from_u64(config.seed));
        points.truncate(n_wanted - 1);
        points.extend(best);
        points.sort_by(|&one, &other| data.scores[one].total_cmp(&data.scores[other]).then(one.cmp(&other)));
    }
    let mut note = format!("{} points.", points.len());
    if n_finite > n_wanted {
        note = format!("A random sample of {} of {n_finite} points, the best among them.", points.len());
    }
    if n_finite < n_all {
        note.push_str(&format!(" {} points without a finite vector and score are left out.", n_all - n_finite));
    }
    Sample { points, note }
}
