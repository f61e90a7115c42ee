//! [`Shortlist`]: the best of many vectors.

use crate::Matrix;
use crate::numerics::rows::{gather, to_vec};
use crate::space::Criterion;

/// The first of the highest scores, and its index. NaN is ignored.
pub(super) fn highest(scores: &[f64]) -> Option<(usize, f64)> {
    let scores = scores.iter().copied().enumerate().filter(|(_, score)| !score.is_nan());
    scores.rev().max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The best of the drawn vectors, among which a batch is chosen one by one.
pub(super) struct Shortlist {
    pub(super) vectors: Matrix,
    scores: Vec<f64>,
    is_used: Vec<bool>,
}

impl Shortlist {
    const MAX: usize = 1000;

    pub(super) fn of(drawn: Matrix, criterion: &dyn Criterion) -> Shortlist {
        let scores = criterion.score(drawn.as_ref());
        let mut rows: Vec<usize> = (0..scores.len()).filter(|&row| !scores[row].is_nan()).collect();
        rows.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        rows.truncate(Shortlist::MAX);
        let vectors = gather(drawn.as_ref(), &rows);
        let scores = rows.iter().map(|&row| scores[row]).collect();
        Shortlist { vectors, scores, is_used: vec![false; rows.len()] }
    }

    pub(super) fn take_best(&mut self) -> Option<Vec<f64>> {
        let unused = self.scores.iter().zip(&self.is_used).map(|(&score, &used)| if used { f64::NAN } else { score });
        let (best, _) = highest(&unused.collect::<Vec<f64>>())?;
        self.is_used[best] = true;
        Some(to_vec(&self.vectors, best))
    }

    pub(super) fn rescore(&mut self, criterion: &dyn Criterion) {
        self.scores = criterion.score(self.vectors.as_ref());
    }
}
