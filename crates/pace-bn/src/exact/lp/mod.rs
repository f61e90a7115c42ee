//! A linear programme over families with a row per cluster, and a dual simplex method for it.
//!
//! ```text
//! minimise    sum_j loss_j x_j
//! such that   sum_(j of variable v) x_j = 1          one family per variable
//!             sum_(j in row i) x_j - s_i = k_i         k_i variables of cluster i have fewer than k_i parents in it
//!             0 <= x_j <= upper_j,  0 <= s_i <= |cluster i| - k_i
//! ```
//!
//! Every variable has two finite bounds, so any basis is made dual feasible by moving variables to their other bound. Rows can
//! be added and bounds changed at any time, and the method goes on from the basis it has. There are few rows, some hundreds, so
//! the inverse of the basis is kept dense; there are thousands of columns, which are lists of rows.

mod inverse;
mod keep;
mod pivot;
mod state;

pub(super) use state::{Outcome, Simplex};
