//! [`Member`]: a network of the ensemble, and the regression on its basis.

use std::sync::Arc;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use super::network::{Network, Trace};
use super::regression::BayesianRegression;

/// A network and its regression. With the basis h of a point, phi = (1, h) or h.
#[derive(Clone, Debug)]
pub(super) struct Member {
    network: Arc<Network>,
    has_bias: bool,
    regression: BayesianRegression,
    /// m of the fit, and m after the fantasies.
    weights: Weights,
    believed: Weights,
    /// |R phi|^2 = constant^2 + |factor h + offset|^2, because the first row of the triangle R multiplies only the bias.
    constant: f64,
    factor: Mat<f32>,
    offset: Vec<f32>,
}

/// m, split into the weight of the bias and the others.
#[derive(Clone, Debug)]
struct Weights {
    bias: f64,
    basis: Vec<f64>,
}

/// Buffers for a block of points.
pub(super) struct Workspace {
    pub(super) trace: Trace,
    /// R phi [H, n]
    spread: Mat<f32>,
}

/// The belief of one member about one point, in units of the standardised scores.
#[derive(Clone, Copy, Debug)]
pub(super) struct Belief {
    pub(super) mean: f64,
    /// The mean after the fantasies.
    pub(super) believed: f64,
    pub(super) variance: f64,
}

impl Member {
    pub(super) fn new(network: Network, has_bias: bool, regression: BayesianRegression) -> Member {
        let weights = Weights::of(&regression, has_bias);
        Member::with(Arc::new(network), has_bias, regression, weights)
    }

    fn with(network: Arc<Network>, has_bias: bool, regression: BayesianRegression, weights: Weights) -> Member {
        let (root, first, width) = (regression.root(), usize::from(has_bias), network.width());
        let constant = if has_bias { root[(0, 0)] } else { 0.0 };
        let factor = Mat::from_fn(width, width, |i, j| root[(i + first, j + first)] as f32);
        let offset = (0..width).map(|i| if has_bias { root[(i + 1, 0)] as f32 } else { 0.0 }).collect();
        let believed = Weights::of(&regression, has_bias);
        Member { network, has_bias, regression, weights, believed, constant, factor, offset }
    }

    pub(super) fn regression(&self) -> &BayesianRegression {
        &self.regression
    }

    pub(super) fn workspace(&self, n: usize) -> Workspace {
        Workspace { trace: Trace::new(&self.network, n), spread: Mat::zeros(self.network.width(), n) }
    }

    /// Beliefs about the first `n` points of the input of the workspace.
    pub(super) fn beliefs(&self, work: &mut Workspace, n: usize, mut tell: impl FnMut(usize, Belief)) {
        self.network.forward_basis(&mut work.trace);
        matmul(&mut work.spread, Accum::Replace, &self.factor, work.trace.basis(), 1.0, Par::Seq);
        for i in 0..n {
            let h = work.trace.basis().col_as_slice(i);
            let spread = squared_norm(work.spread.col_as_slice(i), &self.offset);
            let variance = self.constant * self.constant + spread;
            tell(i, Belief { mean: self.weights.at(h), believed: self.believed.at(h), variance });
        }
    }

    /// The member after the points in the workspace were observed with these values.
    pub(super) fn observe(&self, work: &mut Workspace, y: &[f64]) -> Member {
        self.network.forward_basis(&mut work.trace);
        let phi = design(work.trace.basis().as_ref(), self.has_bias);
        let regression = self.regression.observe(phi.as_ref(), y);
        Member::with(Arc::clone(&self.network), self.has_bias, regression, self.weights.clone())
    }
}

impl Weights {
    fn of(regression: &BayesianRegression, has_bias: bool) -> Weights {
        match has_bias {
            true => Weights { bias: regression.weights()[0], basis: regression.weights()[1..].to_vec() },
            false => Weights { bias: 0.0, basis: regression.weights().to_vec() },
        }
    }

    fn at(&self, h: &[f32]) -> f64 {
        self.bias + mixed_dot(&self.basis, h)
    }
}

/// Phi [n, D], given the basis h [H, n] of some points. The bias comes first.
pub(super) fn design(basis: MatRef<'_, f32>, has_bias: bool) -> Mat<f64> {
    let first = usize::from(has_bias);
    let entry = |i: usize, d: usize| if d < first { 1.0 } else { f64::from(basis[(d - first, i)]) };
    Mat::from_fn(basis.ncols(), basis.nrows() + first, entry)
}

/// a . b, in double precision.
fn mixed_dot(a: &[f64], b: &[f32]) -> f64 {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
            let tail: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, &b)| a * f64::from(b)).sum();
            let mut sums = [0.0; 8];
            for (a, b) in a.zip(b) {
                (0..8).for_each(|lane| sums[lane] += a[lane] * f64::from(b[lane]));
            }
            tail + sums.iter().sum::<f64>()
        },
    )
}

/// |a + b|^2
fn squared_norm(a: &[f32], b: &[f32]) -> f64 {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            let (a, b) = (a.chunks_exact(16), b.chunks_exact(16));
            let square = |(a, b): (&f32, &f32)| (a + b) * (a + b);
            let tail: f32 = a.remainder().iter().zip(b.remainder()).map(square).sum();
            let mut sums = [0.0_f32; 16];
            for (a, b) in a.zip(b) {
                (0..16).for_each(|lane| sums[lane] += square((&a[lane], &b[lane])));
            }
            f64::from(tail + sums.iter().sum::<f32>())
        },
    )
}
