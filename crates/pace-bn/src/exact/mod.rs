//! Exact search: the best network of all, with a proof, or the best known one and how far it may be from the best.
//!
//! 1. [`Candidates`] are the families worth considering: all others are beaten by a subset of their parents.
//! 2. Arcs that no cycle of possible arcs contains cannot close one, so the strongly connected components of the graph of
//!    possible parents are solved one by one.
//! 3. A component of few variables is solved by dynamic programming over its subsets, a larger one by branch and cut: a
//!    linear programme over families with a cutting plane per cluster of variables (Jaakkola, Sontag, Globerson & Meila 2010;
//!    Bartlett & Cussens 2017, GOBNILP). Before it branches, groups of variables are solved exactly and only what reaches beyond
//!    a group is relaxed; families that this bound rules out are dropped.
//!
//! The upper bound of the certificate does not rely on the solver's arithmetic: it is evaluated from the multipliers of the
//! cutting planes, which prove a bound whatever they are.

mod branch;
mod candidates;
mod certify;
mod components;
mod cuts;
mod dp;
mod enumerate;
mod fractional;
mod groups;
mod lp;
mod problem;
mod relax;
mod separate;
mod set;

pub use candidates::{CandidateConfig, Candidates, Family};
pub use certify::{Certificate, ExactConfig, certify};
