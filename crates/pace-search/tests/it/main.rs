//! Integration tests of pace-search, one binary.

mod surrogate_bound;
mod surrogate_fit;
mod surrogate_published;
mod surrogate_sample;
