//! The parts that encoders and decoders are made of.

mod ast_embedding;
mod block;
mod embedding;
mod norm;
mod position;
mod readout;
mod sparse_attention;
mod sparse_blocks;

pub use ast_embedding::AstEmbedding;
pub use block::{BlocksConfig, DecoderBlock, EncoderBlock, NormPlacement};
pub use embedding::{Join, NodeEmbedding, NodeEmbeddingConfig, OpEmbedding};
pub use norm::Norm;
pub use position::{Position, PositionConfig};
pub use readout::Readout;
pub use sparse_attention::{PairLists, sparse_attention};
pub use sparse_blocks::sparse_encoder;
