//! One integration binary: link once, run everything.

mod canon;
mod dag;
mod dag2seq;
mod dataset_code2;
mod dataset_errors;
mod dataset_garbage;
mod dataset_real;
mod dataset_round_trip;
mod dataset_source;
mod dataset_tfrecord;
mod enumerate;
mod graphs;
mod infer;
mod mutate;
mod split;
mod structure;
mod validity;
