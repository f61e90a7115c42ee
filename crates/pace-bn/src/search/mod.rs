//! Anytime search: climbing by arcs, and search over orders. All of it is seeded and independent of the order of columns.

mod arcs;
mod climb;
mod limits;
mod near;
mod order;
mod perturb;

pub use climb::{ClimbConfig, climb};
pub use limits::{Found, Limits, Progress};
pub use near::{NearConfig, search_near};
pub use order::{OrderConfig, search_orders};

pub(crate) use order::Orders;
