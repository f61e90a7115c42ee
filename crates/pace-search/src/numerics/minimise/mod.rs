//! Local minima of functions: [`Lbfgs`] uses gradients, [`nelder_mead`] does not.

mod lbfgs;
mod line_search;
mod nelder_mead;

pub(crate) use lbfgs::Lbfgs;
pub(crate) use nelder_mead::nelder_mead;
