//! Numerical methods that know nothing about graphs or searches.
//!
//! - [`dense`] and [`product`]: linear algebra, on top of faer.
//! - [`scratch`] and [`shards`]: memory and threads for sums over many rows.
//! - [`rows`] and [`units`]: selection and scaling of data.
//! - [`minimise`]: minima of functions.
//! - [`normal`]: the normal distribution.

pub(crate) mod dense;
pub(crate) mod minimise;
pub(crate) mod normal;
pub(crate) mod product;
pub(crate) mod rows;
pub(crate) mod scratch;
pub(crate) mod shards;
pub(crate) mod units;
