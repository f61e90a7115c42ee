//! Numerical methods that know nothing about graphs or searches.
//!
//! [`dense`] and [`product`] are the algebra, on top of faer; [`pool`] and [`shards`] keep it fast on many rows; [`rows`] and
//! [`units`] prepare data; [`minimise`] finds minima; [`normal`] is the normal distribution.

pub(crate) mod dense;
pub(crate) mod minimise;
pub(crate) mod normal;
pub(crate) mod pool;
pub(crate) mod product;
pub(crate) mod rows;
pub(crate) mod shards;
pub(crate) mod units;
