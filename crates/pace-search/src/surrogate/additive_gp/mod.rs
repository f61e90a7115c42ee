//! [`AdditiveGp`]: an exact Gaussian process whose covariance is a sum over parts of a vector, such as the nodes of a graph.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::gp::kernel::Kernel;

mod covariance;
mod evidence;
mod fit;
mod model;
mod solved;

pub use model::AdditiveGp;

/// Which parts a vector has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parts {
    /// Parts of this width each, one per node. It divides the width of the vectors.
    Even(usize),
    /// Parts of these widths, which add up to the width of the vectors: several kinds of features side by side.
    Widths(Vec<usize>),
}

impl Parts {
    /// The columns of each part.
    fn columns(&self, width: usize) -> Vec<Range<usize>> {
        match self {
            Parts::Even(block) => (0..width).step_by(*block).map(|start| start..start + block).collect(),
            Parts::Widths(widths) => {
                let mut end = 0;
                let part = |width: &usize| {
                    end += width;
                    end - width..end
                };
                widths.iter().map(part).collect()
            }
        }
    }

    fn fit(&self, width: usize) -> bool {
        match self {
            Parts::Even(block) => *block > 0 && width.is_multiple_of(*block),
            Parts::Widths(widths) => !widths.contains(&0) && widths.iter().sum::<usize>() == width,
        }
    }
}

/// How to fit an [`AdditiveGp`].
///
/// With x_b the part of a vector that belongs to node b, k a stationary kernel of unit variance and one length-scale per term:
///
/// ```text
/// K(x, z) = s_0 k(|x - z| / l_0)  +  sum_b s_b k(|x_b - z_b| / l_b)
/// ```
///
/// Many scores are sums of contributions of single nodes, exactly or nearly: the BIC of a Bayesian network is a sum over
/// variables of a function of their parents. Such a function is learnt from few graphs, because a node that was seen in one of
/// them says something about all others that have the same one (additive kernels: Duvenaud, Nickisch & Rasmussen 2011; sums
/// over the parts of an object: Haussler 1999). The first term holds what is left. PACE with a latent space node by node gives
/// vectors of this kind.
///
/// The fit is exact and takes O(n^3) for n rows; with `max_rows` it keeps the best.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdditiveGpConfig {
    /// The shape of the covariance of each term.
    pub kernel: Kernel,
    /// The parts of a vector.
    pub parts: Parts,
    /// The share of the variance that starts in the term over whole vectors; the rest is spread evenly over the parts.
    pub whole: f64,
    /// The variance of the noise at the start, that of the scores being 1.
    pub noise: f64,
    /// The largest number of rows of the posterior: those with the highest scores.
    pub max_rows: usize,
    /// The largest number of rows to learn the hyperparameters on: half of them the best, the others random.
    pub learn_rows: usize,
    /// Iterations of L-BFGS.
    pub max_iterations: usize,
    /// The standard deviation of the prior of the logarithm of each hyperparameter, around its start. It keeps the fit sane as
    /// long as there are few rows.
    pub prior: f64,
}

impl AdditiveGpConfig {
    /// For searches of hundreds of queries; vectors with `block` numbers per node.
    pub fn new(block: usize) -> AdditiveGpConfig {
        AdditiveGpConfig {
            kernel: Kernel::Matern52,
            parts: Parts::Even(block),
            whole: 0.02,
            noise: 1e-3,
            max_rows: 1000,
            learn_rows: 300,
            max_iterations: 20,
            prior: 1.0,
        }
    }

    fn check(&self, width: usize) -> Result<(), Error> {
        let bad = |name, value: usize, range| Err(Error::BadSetting { name, value: value.to_string(), range });
        match *self {
            AdditiveGpConfig { ref parts, .. } if !parts.fit(width) => Err(Error::BadSetting {
                name: "parts",
                value: format!("{parts:?} of {width} columns"),
                range: "they divide the width of the vectors, or add up to it",
            }),
            AdditiveGpConfig { noise, .. } if !(noise > 0.0 && noise.is_finite()) => {
                Err(Error::BadSetting { name: "noise", value: noise.to_string(), range: "it is a positive number" })
            }
            AdditiveGpConfig { whole, .. } if !(whole > 0.0 && whole < 1.0) => {
                let range = "it lies between 0 and 1";
                Err(Error::BadSetting { name: "whole", value: whole.to_string(), range })
            }
            AdditiveGpConfig { max_rows: 0, .. } => bad("max_rows", 0, "a fit needs at least 1 row"),
            AdditiveGpConfig { learn_rows: 0, .. } => bad("learn_rows", 0, "a fit needs at least 1 row"),
            AdditiveGpConfig { prior, .. } if !(prior > 0.0 && prior.is_finite()) => {
                let range = "it is a positive number";
                Err(Error::BadSetting { name: "prior", value: prior.to_string(), range })
            }
            _ => Ok(()),
        }
    }
}
