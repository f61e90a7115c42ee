//! Collapsed bounds: how well inducing points explain the data. The posterior over their values is integrated out.
//!
//! With Q = Knm Kmm^-1 Kmn and the noise variance v, both are the log density of y under N(0, Q + Lambda):
//!
//! ```text
//! vfe    Lambda = v I,                   minus tr(K - Q) / 2v     a lower bound of the evidence
//! fitc   Lambda = diag(K - Q) + v I                               exact in a modified prior
//! ```
//!
//! Titsias 2009; Snelson & Ghahramani 2006. By Woodbury's identity everything follows from G = Kmn Lambda^-1 Knm and
//! h = Kmn Lambda^-1 y. They are sums over rows of the data: O(N M^2) time, O(M^2) memory.

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::gp::kernel::Kernel;
use crate::numerics::scratch::Scratch;

mod fitc;
mod moments;
mod prior;
mod solve;
mod vfe;

use moments::Moments;
pub(crate) use prior::Prior;
pub(crate) use solve::Solved;

/// The approximation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Variational free energy. It never exceeds the exact evidence, so inducing points cannot overfit.
    Vfe,
    /// Fully independent training conditional. Its noise varies with the input.
    Fitc,
}

/// The hyperparameters that are learnt, in the units of the data, or a gradient by them.
#[derive(Clone, Debug, PartialEq)]
pub struct Hyperparameters {
    /// A [K, D], if vectors are mapped to A x first. Then D below is K.
    pub map: Option<Mat<f64>>,
    /// log l `[D]`.
    pub log_lengths: Vec<f64>,
    /// log s: the signal variance.
    pub log_variance: f64,
    /// log v: the noise variance.
    pub log_noise: f64,
    /// Z [M, D].
    pub inducing: Mat<f64>,
}

/// A bound and its gradient at some hyperparameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The bound, in nats.
    pub value: f64,
    /// Its derivative by each of the hyperparameters.
    pub gradient: Hyperparameters,
}

/// The data, and the settings that are not learnt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Problem<'a> {
    pub(crate) kernel: Kernel,
    /// The smallest relative jitter on Kmm.
    pub(crate) jitter: f64,
    /// [N, D]
    pub(crate) x: MatRef<'a, f64>,
    /// [N]
    pub(crate) y: &'a [f64],
    pub(crate) scratch: &'a Scratch,
}

impl Bound {
    /// The bound for vectors x [N, D] and scores y `[N]`, with its gradient.
    ///
    /// `jitter` times the signal variance is added to the diagonal of Kmm. If that is too little for a Cholesky factorisation,
    /// it is multiplied by 10, 100..., up to 1e-2.
    pub fn evaluate(
        self,
        kernel: Kernel,
        hyper: &Hyperparameters,
        x: MatRef<'_, f64>,
        y: &[f64],
        jitter: f64,
    ) -> Result<Evaluation, Error> {
        self.gradient(Problem { kernel, jitter, x, y, scratch: &Scratch::default() }, hyper)
    }

    pub(crate) fn gradient(self, problem: Problem<'_>, hyper: &Hyperparameters) -> Result<Evaluation, Error> {
        let (prior, solved) = self.solve(problem, hyper)?;
        let sums = match self {
            Bound::Vfe => vfe::gradient(problem, &prior, &solved),
            Bound::Fitc => fitc::gradient(problem, &prior, &solved),
        };
        let evaluation = Evaluation { value: solved.value, gradient: prior.gradient(sums, problem.scratch) };
        prior.recycle(problem.scratch);
        solved.recycle(problem.scratch);
        Ok(evaluation)
    }

    /// The bound and the posterior over the inducing points, without a gradient. One pass over the data.
    pub(crate) fn solve(self, problem: Problem<'_>, hyper: &Hyperparameters) -> Result<(Prior, Solved), Error> {
        let prior = Prior::new(problem.kernel, hyper, problem.jitter, problem.scratch)?;
        let moments = Moments::new(self, problem, &prior);
        let solved = Solved::new(self, &prior, moments, problem.scratch)?;
        Ok((prior, solved))
    }
}
