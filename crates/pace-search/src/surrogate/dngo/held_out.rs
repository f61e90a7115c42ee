//! The precisions of the regression by cross-validation.

use faer::MatRef;

use super::evidence::{RatioRange, Spectrum};
use crate::numerics::dense::dot;

/// Steps of the grid over log alpha / beta, and of the search between two of its points.
const GRID: usize = 60;
const SECTIONS: usize = 40;
/// (sqrt(5) - 1) / 2
const GOLDEN: f64 = 0.618_033_988_749_895;

/// A regression on the basis of a network, and rows that neither of them has seen.
pub(super) struct Fold {
    seen: Spectrum,
    rows: Vec<Row>,
}

/// phi in the eigenbasis of the regression, and y.
struct Row {
    projections: Vec<f64>,
    /// |phi|^2 outside that basis.
    outside: f64,
    y: f64,
}

impl Fold {
    /// A fold with the held-out rows phi [n, D] and y [n].
    pub(super) fn new(seen: Spectrum, phi: MatRef<'_, f64>, y: &[f64]) -> Fold {
        let row = |(phi, &y): (faer::RowRef<'_, f64>, &f64)| {
            let phi: Vec<f64> = phi.iter().copied().collect();
            let projections = seen.project(&phi);
            let outside = (dot(&phi, &phi) - dot(&projections, &projections)).max(0.0);
            Row { projections, outside, y }
        };
        let rows = phi.row_iter().zip(y).map(row).collect();
        Fold { seen, rows }
    }

    /// Adds r^2 / s and log s of the held-out rows. At this ratio the belief about a row has the error r and the variance
    /// s / beta.
    fn add(&self, ratio: f64, squares: &mut f64, log_scales: &mut f64) {
        for row in &self.rows {
            let (mean, spread) = self.seen.predict_projected(&row.projections, ratio);
            let scale = 1.0 + spread + row.outside / ratio;
            *squares += (row.y - mean) * (row.y - mean) / scale;
            *log_scales += scale.ln();
        }
    }
}

/// alpha and beta under which the held-out rows of all folds are most likely:
///
/// ```text
/// max sum_i log N(y_i; mean_i, s_i / beta),   s_i = 1 + phi_i^T (Phi^T Phi + r I)^-1 phi_i,   r = alpha / beta
/// ```
///
/// At a fixed r the best beta is N / sum_i (y_i - mean_i)^2 / s_i.
pub(super) fn maximise(folds: &[Fold]) -> (f64, f64) {
    let n: usize = folds.iter().map(|fold| fold.rows.len()).sum();
    let n = n as f64;
    let at = |log_ratio: f64| {
        let (mut squares, mut log_scales) = (0.0, 0.0);
        folds.iter().for_each(|fold| fold.add(log_ratio.exp(), &mut squares, &mut log_scales));
        let beta = n / squares.max(f64::MIN_POSITIVE);
        (0.5 * (n * beta.ln() - log_scales), beta)
    };
    let range = RatioRange::of(folds.iter().map(|fold| &fold.seen));
    let Some(range) = range else { return (1.0, 1.0) };
    let best = (0..=GRID).max_by(|&a, &b| at(range.at(a, GRID)).0.total_cmp(&at(range.at(b, GRID)).0));
    let best = best.expect("the grid has points");
    let (mut low, mut high) = (range.at(best.saturating_sub(1), GRID), range.at((best + 1).min(GRID), GRID));
    for _ in 0..SECTIONS {
        let (left, right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
        if at(left).0 > at(right).0 { high = right } else { low = left }
    }
    let log_ratio = 0.5 * (low + high);
    let beta = at(log_ratio).1;
    (beta * log_ratio.exp(), beta)
}
