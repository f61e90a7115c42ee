//! Structures: directed acyclic graphs over numbered variables, their equivalence classes, and distances.

mod cpdag;
mod dag;
mod distance;

pub use cpdag::{Cpdag, Link};
pub use dag::Structure;
pub use distance::{Confusion, shd, shd_dags};
