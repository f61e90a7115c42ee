//! The integration tests of this crate, one binary.

mod dataset_code2;
mod dataset_errors;
mod dataset_garbage;
mod dataset_real;
mod dataset_round_trip;
mod dataset_source;
mod dataset_tfrecord;
mod split;
