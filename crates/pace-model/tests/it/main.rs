//! Integration tests of pace-model, one binary.

mod ast;
mod ast_encoders;
mod dagnn;
mod decay;
mod device;
mod dvae;
mod encoder;
mod fit;
mod generate;
mod gnn;
mod gnns;
mod golden;
mod graph_transformers;
#[cfg(feature = "flex")]
mod kernel;
#[cfg(feature = "flex")]
mod kernel_adam;
#[cfg(all(feature = "flex", feature = "ndarray"))]
mod kernel_backend;
#[cfg(feature = "flex")]
mod kernel_case;
#[cfg(feature = "flex")]
mod kernel_edge;
#[cfg(feature = "flex")]
mod kernel_embedding;
#[cfg(feature = "flex")]
mod kernel_level;
#[cfg(feature = "flex")]
mod kernel_shared_pasts;
#[cfg(feature = "flex")]
mod kernel_some_rows;
#[cfg(feature = "flex")]
mod kernel_sparse;
#[cfg(feature = "flex")]
mod kernel_walk;
mod latent;
mod laws;
mod message;
mod objective;
mod pace;
mod parity;
mod recursion;
mod refused;
mod rooted;
mod setting;
mod store;
mod string_decoders;
mod strings;
mod structure;
