//! Local minima: [`Lbfgs`] with gradients, [`nelder_mead`] without.

mod lbfgs;
mod line_search;
mod nelder_mead;

pub(crate) use lbfgs::Lbfgs;
pub(crate) use nelder_mead::nelder_mead;
