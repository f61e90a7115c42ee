//! Scores: how well a network explains a table, as a sum over families (a variable and its parents).
//!
//! Every score here is a difference of potentials of sets of variables, less a penalty:
//!
//! ```text
//! score(v | P) = g(P + v) - g(P) - c * (r_v - 1) * prod_(p in P) r_p
//! log-likelihood, AIC, BIC   g(S) = sum_j n_j ln n_j
//! BDeu                       g(S) = sum_j [ lgamma(n_j + a / q_S) - lgamma(a / q_S) ],   q_S = prod_(s in S) r_s
//! ```
//!
//! with n_j the rows that show configuration j of S. So one count of a set serves all the families within it.

mod count;
mod kind;
mod points;
mod scorer;
mod store;

pub use kind::ScoreKind;
pub use points::Points;
pub use scorer::Scorer;

pub(crate) use count::{Counter, Potential};
pub(crate) use scorer::{with, without};
pub(crate) use store::Mix;
