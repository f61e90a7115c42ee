//! [`Evidence`]: how the two precisions of the regression are chosen.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Mat, MatRef, Par, Spec};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::numerics::dense::{dot, transposed_times};
use crate::numerics::minimise::nelder_mead;

const LOG_2_PI: f64 = 1.837_877_066_409_345_3;
/// The range of the ratio alpha / beta, relative to the largest eigenvalue of Phi^T Phi. Beyond it the noise, or the signal,
/// is negligible.
const LOWEST_RATIO: f64 = 1e-8;
const HIGHEST_RATIO: f64 = 1e3;
const GRID: usize = 100;
const BISECTIONS: usize = 60;

/// The function of alpha (precision of the weights) and beta (precision of the noise) that is maximised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The log density of y under N(0, Phi Phi^T / alpha + I / beta), at its global maximum.
    Exact,
    /// The density of held-out rows, under networks and regressions that have not seen them. A network that has memorised its
    /// rows leaves no residual, so the exact evidence finds no noise. Cross-validation does. It costs one more training per
    /// fold.
    CrossValidated {
        /// The number of parts of the rows, each of which is held out once; 2 or more.
        folds: usize,
    },
    /// As in the published code: with the norm of the residual instead of its square, and by Nelder-Mead from a random start.
    /// log alpha and log 1 / beta are in -10..=10.
    Published,
}

/// The range in which log alpha / beta is searched.
#[derive(Clone, Copy)]
pub(super) struct RatioRange {
    low: f64,
    high: f64,
}

impl RatioRange {
    /// `None` if all scores or all basis functions are zero.
    pub(super) fn of<'a>(spectra: impl Iterator<Item = &'a Spectrum>) -> Option<RatioRange> {
        let (mut largest, mut total) = (0.0_f64, 0.0);
        for spectrum in spectra {
            largest = spectrum.squares.iter().copied().fold(largest, f64::max);
            total += spectrum.rest + dot(&spectrum.loads, &spectrum.loads);
        }
        let range = RatioRange { low: (LOWEST_RATIO * largest).ln(), high: (HIGHEST_RATIO * largest).ln() };
        (largest > 0.0 && total > 0.0).then_some(range)
    }

    /// Point `index` of a grid of 0..=n.
    pub(super) fn at(self, index: usize, n: usize) -> f64 {
        self.low + (self.high - self.low) * index as f64 / n as f64
    }
}

/// Phi = U diag(sqrt(s)) V^T and y in this basis. Every evidence is a sum over them.
pub(super) struct Spectrum {
    n_rows: usize,
    /// D
    n_columns: usize,
    /// s, at most min(N, D) of them.
    squares: Vec<f64>,
    /// U^T y
    loads: Vec<f64>,
    /// |y - U U^T y|^2
    rest: f64,
    /// V [D, min(N, D)]
    right: Mat<f64>,
}

impl Spectrum {
    /// The spectrum of Phi [N, D] and y [N]; `None` if Phi is not finite.
    pub(super) fn new(phi: MatRef<'_, f64>, y: &[f64]) -> Option<Spectrum> {
        let (n_rows, n_columns) = phi.shape();
        let size = n_rows.min(n_columns);
        let (mut left, mut right) = (Mat::zeros(n_rows, size), Mat::zeros(n_columns, size));
        let mut singular = Diag::zeros(size);
        // One thread, so that the numbers do not depend on the number of threads.
        let thin = ComputeSvdVectors::Thin;
        let scratch = svd_scratch::<f64>(n_rows, n_columns, thin, thin, Par::Seq, Spec::default());
        let (u, v) = (Some(left.as_mut()), Some(right.as_mut()));
        let mut memory = MemBuffer::new(scratch);
        svd(phi, singular.as_mut(), u, v, Par::Seq, MemStack::new(&mut memory), Spec::default()).ok()?;
        let squares: Vec<f64> = singular.column_vector().iter().map(|value| value * value).collect();
        let loads: Vec<f64> = (0..size).map(|i| dot(left.col_as_slice(i), y)).collect();
        let mut rest = y.to_vec();
        for (i, load) in loads.iter().enumerate() {
            rest.iter_mut().zip(left.col_as_slice(i)).for_each(|(rest, u)| *rest -= load * u);
        }
        let rest = if n_rows > n_columns { dot(&rest, &rest) } else { 0.0 };
        squares.iter().all(|s| s.is_finite()).then_some(Spectrum { n_rows, n_columns, squares, loads, rest, right })
    }

    /// The posterior mean of the weights [D].
    pub(super) fn weights(&self, alpha: f64, beta: f64) -> Vec<f64> {
        let mut weights = vec![0.0; self.n_columns];
        for (i, (s, load)) in self.squares.iter().zip(&self.loads).enumerate() {
            let share = beta * s.sqrt() * load / (alpha + beta * s);
            weights.iter_mut().zip(self.right.col_as_slice(i)).for_each(|(weight, v)| *weight += share * v);
        }
        weights
    }

    /// V^T phi
    pub(super) fn project(&self, phi: &[f64]) -> Vec<f64> {
        transposed_times(&self.right, phi)
    }

    /// The mean at a phi with these projections, and beta times the part of its variance within V.
    pub(super) fn predict_projected(&self, projections: &[f64], ratio: f64) -> (f64, f64) {
        let (mut mean, mut spread) = (0.0, 0.0);
        for ((p, s), load) in projections.iter().zip(&self.squares).zip(&self.loads) {
            mean += p * s.sqrt() * load / (ratio + s);
            spread += p * p / (ratio + s);
        }
        (mean, spread)
    }

    /// log N(y; 0, Phi Phi^T / alpha + I / beta)
    ///
    /// ```text
    /// = 1/2 (N log beta - N log 2 pi - sum_i log(1 + s_i beta / alpha) - beta q),   q = y^T (I + Phi Phi^T beta / alpha)^-1 y
    /// ```
    ///
    /// which equals D/2 log alpha + N/2 log beta - beta/2 |y - Phi m|^2 - alpha/2 |m|^2 - 1/2 log |K| - N/2 log 2 pi.
    pub(super) fn log_evidence(&self, alpha: f64, beta: f64) -> f64 {
        let (n, ratio) = (self.n_rows as f64, alpha / beta);
        let log_det: f64 = self.squares.iter().map(|s| (s / ratio).ln_1p()).sum();
        0.5 * (n * (beta.ln() - LOG_2_PI) - log_det - beta * self.quadratic(ratio).0)
    }

    /// q at a ratio r = alpha / beta, and dq / dlog r.
    fn quadratic(&self, ratio: f64) -> (f64, f64) {
        let (mut value, mut slope) = (self.rest, 0.0);
        for (s, load) in self.squares.iter().zip(&self.loads) {
            let share = load * load * ratio / (ratio + s);
            value += share;
            slope += share * s / (ratio + s);
        }
        (value, slope)
    }

    /// alpha and beta. Only the published start uses `rng`.
    pub(super) fn maximise(&self, evidence: Evidence, rng: &mut ChaCha8Rng) -> (f64, f64) {
        match evidence {
            // Without a network rows cannot be held out.
            Evidence::Exact | Evidence::CrossValidated { .. } => self.maximise_exact(),
            Evidence::Published => {
                let mut normal = || -> f64 { StandardNormal.sample(rng) };
                let start = [normal(), normal() - 3.0];
                let [log_alpha, log_noise] = nelder_mead(start, |theta| -self.published_log_evidence(theta));
                (log_alpha.exp(), (-log_noise).exp())
            }
        }
    }

    /// At a fixed ratio r the best beta is N / q, so only r is left to search. It is searched on a grid, because there may be
    /// several maxima, and then by bisection of the derivative
    ///
    /// ```text
    /// dF/dlog r = 1/2 (sum_i s_i / (r + s_i) - N q' / q)
    /// ```
    fn maximise_exact(&self) -> (f64, f64) {
        // If all scores or all basis functions are zero, any scale is as good.
        let Some(range) = RatioRange::of(std::iter::once(self)) else { return (1.0, 1.0) };
        let n = self.n_rows as f64;
        let at = |index: usize| range.at(index, GRID);
        let best_beta = |log_ratio: f64| n / self.quadratic(log_ratio.exp()).0.max(f64::MIN_POSITIVE);
        let value = |log_ratio: f64| {
            let beta = best_beta(log_ratio);
            self.log_evidence(beta * log_ratio.exp(), beta)
        };
        let slope = |log_ratio: f64| {
            let ratio = log_ratio.exp();
            let (q, by_ratio) = self.quadratic(ratio);
            self.squares.iter().map(|s| s / (ratio + s)).sum::<f64>() - n * by_ratio / q
        };
        let best = (0..=GRID).max_by(|&a, &b| value(at(a)).total_cmp(&value(at(b)))).expect("the grid has points");
        let (mut low, mut high) = (at(best.saturating_sub(1)), at((best + 1).min(GRID)));
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            if slope(middle) > 0.0 { low = middle } else { high = middle }
        }
        let log_ratio = 0.5 * (low + high);
        let beta = best_beta(log_ratio);
        (beta * log_ratio.exp(), beta)
    }

    /// As in the published code. Its determinant may overflow.
    fn published_log_evidence(&self, [log_alpha, log_noise]: [f64; 2]) -> f64 {
        if ![log_alpha, log_noise].iter().all(|log| (-10.0..=10.0).contains(log)) {
            return f64::NEG_INFINITY;
        }
        let (alpha, beta) = (log_alpha.exp(), (-log_noise).exp());
        let (n, d) = (self.n_rows as f64, self.n_columns as f64);
        let (mut residual, mut weights) = (self.rest, 0.0);
        let mut determinant = alpha.powf(d - self.squares.len() as f64);
        for (s, load) in self.squares.iter().zip(&self.loads) {
            let precision = alpha + beta * s;
            residual += (load * alpha / precision).powi(2);
            weights += s * (beta * load / precision).powi(2);
            determinant *= precision;
        }
        let value = 0.5 * (d * log_alpha - n * (log_noise + LOG_2_PI))
            - 0.5 * (beta * residual.sqrt() + alpha * weights + (determinant + 1e-10).ln());
        if value.is_nan() { -1e25 } else { value }
    }
}
