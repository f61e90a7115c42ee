//! [`BayesianRegression`]: linear regression on basis functions, with its uncertainty.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rand_chacha::ChaCha8Rng;

use super::evidence::{Evidence, Spectrum};
use crate::error::Error;
use crate::numerics::dense::{self, add_scaled, dot};

/// Bayesian linear regression of y on a basis Phi [N, D] (Bishop 2006, section 3.3).
///
/// ```text
/// w ~ N(0, I / alpha),  y_i ~ N(phi_i . w, 1 / beta),  K = beta Phi^T Phi + alpha I
/// mean at phi: phi . m,  m = beta K^-1 Phi^T y          variance: phi^T K^-1 phi
/// ```
#[derive(Clone, Debug)]
pub struct BayesianRegression {
    alpha: f64,
    beta: f64,
    log_evidence: f64,
    /// m [D]
    weights: Vec<f64>,
    /// K [D, D]
    precision: Mat<f64>,
    /// L^-1 with K = L L^T [D, D]
    inverse_factor: Mat<f64>,
}

impl BayesianRegression {
    /// With alpha and beta that maximise `evidence`. Only the published start uses `rng`.
    pub fn fit(
        phi: MatRef<'_, f64>,
        y: &[f64],
        evidence: Evidence,
        rng: &mut ChaCha8Rng,
    ) -> Result<BayesianRegression, Error> {
        let spectrum = decompose(phi, y)?;
        let (alpha, beta) = spectrum.maximise(evidence, rng);
        BayesianRegression::from_spectrum(phi, &spectrum, alpha, beta)
    }

    /// With given alpha and beta.
    pub fn new(phi: MatRef<'_, f64>, y: &[f64], alpha: f64, beta: f64) -> Result<BayesianRegression, Error> {
        BayesianRegression::from_spectrum(phi, &decompose(phi, y)?, alpha, beta)
    }

    fn from_spectrum(
        phi: MatRef<'_, f64>,
        spectrum: &Spectrum,
        alpha: f64,
        beta: f64,
    ) -> Result<BayesianRegression, Error> {
        let size = phi.ncols();
        let mut precision = Mat::from_fn(size, size, |i, j| if i == j { alpha } else { 0.0 });
        matmul(&mut precision, Accum::Add, phi.transpose(), phi, beta, Par::Seq);
        let inverse_factor = inverse_factor(&precision)?;
        let (weights, log_evidence) = (spectrum.weights(alpha, beta), spectrum.log_evidence(alpha, beta));
        Ok(BayesianRegression { alpha, beta, log_evidence, weights, precision, inverse_factor })
    }

    /// Precision of the weights.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Precision of the noise.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// log N(y; 0, Phi Phi^T / alpha + I / beta).
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// m `[D]`.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// A lower triangle R [D, D] with K^-1 = R^T R. The variance at phi is |R phi|^2.
    pub fn root(&self) -> &Mat<f64> {
        &self.inverse_factor
    }

    /// Mean and noise-free variance at phi `[D]`.
    pub fn predict(&self, phi: &[f64]) -> (f64, f64) {
        let spread = dense::times(&self.inverse_factor, phi);
        (dot(phi, &self.weights), dot(&spread, &spread))
    }

    /// The regression after more rows phi [n, D] and values y `[n]`, with the same alpha and beta. The evidence stays that of
    /// the fit.
    ///
    /// K grows by beta phi phi^T and is factored again. With D of some hundred that takes less than a millisecond and, unlike
    /// a rank-one update of K^-1, loses no digits.
    pub fn observe(&self, phi: MatRef<'_, f64>, y: &[f64]) -> BayesianRegression {
        let mut next = self.clone();
        matmul(&mut next.precision, Accum::Add, phi.transpose(), phi, self.beta, Par::Seq);
        next.inverse_factor =
            inverse_factor(&next.precision).expect("adding a square keeps a matrix positive definite");
        // K' (m' - m) = beta Phi^T (y - Phi m)
        let mut surprise = vec![0.0; phi.ncols()];
        for (row, y) in phi.row_iter().zip(y) {
            let row: Vec<f64> = row.iter().copied().collect();
            add_scaled(&mut surprise, self.beta * (y - dot(&row, &self.weights)), &row);
        }
        let half = dense::times(&next.inverse_factor, &surprise);
        add_scaled(&mut next.weights, 1.0, &dense::transposed_times(&next.inverse_factor, &half));
        next
    }
}

/// The spectrum of Phi [N, D]; an error if Phi is not finite.
pub(super) fn decompose(phi: MatRef<'_, f64>, y: &[f64]) -> Result<Spectrum, Error> {
    let unsound = Error::NotPositiveDefinite { what: "the basis of DNGO", pivot: 0, size: phi.ncols(), jitter: 0.0 };
    Spectrum::new(phi, y).ok_or(unsound)
}

fn inverse_factor(precision: &Mat<f64>) -> Result<Mat<f64>, Error> {
    let size = precision.nrows();
    let mut factor = precision.clone();
    let what = "the precision of the weights of DNGO";
    dense::cholesky(&mut factor).map_err(|pivot| Error::NotPositiveDefinite { what, pivot, size, jitter: 0.0 })?;
    let mut inverse = Mat::zeros(size, size);
    dense::invert_lower(&mut inverse, &factor);
    Ok(inverse)
}
