//! The parts that encoders and decoders are made of.

mod ast_embedding;
mod block;
mod decay;
mod embedding;
mod gru;
mod init;
mod message;
mod norm;
mod position;
mod readout;
mod recursion;
mod stack;

pub use crate::batch::Stream;
pub use ast_embedding::AstEmbedding;
pub(crate) use block::probability;
pub use block::{BlocksConfig, DecoderBlock, EncoderBlock, NormPlacement};
pub use decay::undecayed;
pub use embedding::{Join, NodeEmbedding, NodeEmbeddingConfig, OpEmbedding};
pub use gru::{GruCell, GruConfig};
pub use init::Init;
pub use message::{Aggregation, EdgeList, Flow, Level, Levels, MessagePassing, MessagePassingConfig, Segments};
pub use norm::Norm;
pub use position::{Position, PositionConfig};
pub use readout::Readout;
pub use recursion::{Hearing, Read, Recursion, RecursionConfig, TwoWay, TwoWayConfig};
pub(crate) use recursion::{Told, Visits, VisitsBuilder, predecessors};
pub use stack::{EncoderStack, Keys};

pub use crate::kernel::Dropout;
