//! What a DAG's edges imply: depths, reachability and the attention masks made of it, distances, spectrum.

mod depth;

pub use depth::{depths, topological_order};
