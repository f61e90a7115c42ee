//! Gaussian processes with inducing points: what [`SparseGp`](crate::surrogate::SparseGp) and
//! [`PublishedGp`](crate::surrogate::PublishedGp) share.
//!
//! [`kernel`] computes covariances and their gradients. A [`KernelPosterior`] predicts. It also has a [`gradient`], and
//! [`fantasise`](KernelPosterior::fantasise) gives the belief after more rows.

mod distance;
mod fantasy;
mod gradient;
pub(crate) mod kernel;
mod posterior;

pub(crate) use distance::median_of_pairs;
pub(crate) use gradient::gradient;
pub(crate) use posterior::{KernelPosterior, predict};
