//! The parts that encoders and decoders are made of.

mod ast_embedding;
mod block;
mod decay;
mod embedding;
mod graph_stack;
mod graph_structure;
mod gru;
mod init;
mod laplacian;
mod latent_transformer;
mod likelihood;
mod message;
mod norm;
mod perceptron;
mod position;
mod propagation;
mod readout;
mod rooted;
mod stack;
mod strings;
mod token_table;

pub use crate::batch::Stream;
pub use ast_embedding::AstEmbedding;
pub(crate) use block::probability;
pub use block::{BlocksConfig, DecoderBlock, EncoderBlock, NormPlacement};
pub use decay::undecayed;
pub use embedding::{Join, NodeEmbedding, NodeEmbeddingConfig, OpEmbedding};
pub use graph_stack::GraphStack;
pub use graph_structure::{neighbour_pairs, signed_eigenvectors, stranger_pairs};
pub use gru::{GruCell, GruConfig};
pub use init::Init;
pub use laplacian::LaplacianEncoding;
pub use latent_transformer::{LatentTransformer, StringModel};
pub(crate) use likelihood::{binary_nll, category_nll, edge_nll, op_nll, pairs};
pub use message::{Aggregation, EdgeList, Flow, Level, Levels, MessagePassing, MessagePassingConfig, Segments};
pub use norm::Norm;
pub use perceptron::Perceptron;
pub use position::{Position, PositionConfig};
pub use propagation::{GraphState, Propagation, PropagationConfig};
pub use readout::Readout;
pub use rooted::{NodeLabel, RootedEmbedding};
pub use stack::{EncoderStack, Keys};
pub use strings::{EdgeBits, StringRows};
pub use token_table::TokenTable;

pub use crate::kernel::Dropout;
