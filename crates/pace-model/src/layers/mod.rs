//! The parts that encoders and decoders are made of.

mod ast_embedding;
mod block;
mod decay;
mod embedding;
mod gru;
mod init;
mod latent_transformer;
mod likelihood;
mod message;
mod norm;
mod perceptron;
mod position;
mod propagation;
mod readout;
mod stack;
mod strings;

pub use crate::batch::Stream;
pub use ast_embedding::AstEmbedding;
pub use block::{BlocksConfig, DecoderBlock, EncoderBlock, NormPlacement};
pub use decay::undecayed;
pub use embedding::{Join, NodeEmbedding, NodeEmbeddingConfig, OpEmbedding};
pub use gru::{GruCell, GruConfig};
pub use init::Init;
pub use latent_transformer::{LatentTransformer, StringModel};
pub(crate) use likelihood::{binary_nll, category_nll, edge_nll, op_nll, pairs};
pub use message::{Aggregation, EdgeList, Flow, Level, Levels, MessagePassing, MessagePassingConfig, Segments};
pub use norm::Norm;
pub use perceptron::Perceptron;
pub use position::{Position, PositionConfig};
pub use propagation::{GraphState, Propagation, PropagationConfig};
pub use readout::Readout;
pub use stack::{EncoderStack, Keys};
pub use strings::{EdgeBits, StringRows};

pub use crate::kernel::Dropout;
