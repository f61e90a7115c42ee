//! Gaussian processes that are summarised by inducing points: what [`SparseGp`](crate::surrogate::SparseGp) and
//! [`PublishedGp`](crate::surrogate::PublishedGp) share.
//!
//! [`kernel`] computes covariances and their gradients; a [`KernelPosterior`] predicts, and can be asked for its
//! [`gradient`] or for its belief after more rows ([`fantasise`](KernelPosterior::fantasise)).

mod distance;
mod fantasy;
mod gradient;
pub(crate) mod kernel;
mod posterior;

pub(crate) use distance::median_of_pairs;
pub(crate) use gradient::gradient;
pub(crate) use posterior::{KernelPosterior, predict};
