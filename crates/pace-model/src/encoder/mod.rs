//! The encoder joint: a batch of DAGs to vectors.
//!
//! An encoder implements [`DagEncoder`], and its configuration [`EncoderSettings`]. Programs that choose an encoder by name use
//! [`EncoderConfig`], which lists all of them, and the [`Encoder`] that it initialises.

mod ast;
mod dagnn;
mod dagnn_bn;
mod deepgmg;
mod dvae;
mod dvae_bn;
mod gat;
mod gated_gcn;
mod gcn;
mod gin;
mod graphit;
mod graphormer;
mod graphrnn;
mod gt;
mod pace;
mod san;
mod svae;
mod svae_transformer;

use std::fmt::Debug;

use burn::module::{Module, ModuleDisplay};
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};
use pace_graph::{DagSpec, Op};
use serde::{Deserialize, Serialize};

use crate::batch::{DagBatch, GraphBatch, Layout, Padding, ints};
use crate::layers::NodeEmbedding;

pub use ast::{
    AstBag, AstBagConfig, AstEncoder, AstEncoderConfig, AstPace, AstPaceConfig, AstReadout, AstRecursion,
    AstRecursionConfig,
};
pub use dagnn::{Dagnn, DagnnConfig};
pub use dagnn_bn::DagnnBnConfig;
pub use deepgmg::{DeepGmg, DeepGmgConfig};
pub use dvae::{Dvae, DvaeConfig};
pub use dvae_bn::{DvaeBn, DvaeBnConfig};
pub use gat::{Gat, GatConfig};
pub use gated_gcn::{GatedGcn, GatedGcnConfig};
pub use gcn::{Gcn, GcnConfig};
pub use gin::{Gin, GinConfig};
pub use graphit::{GraphKernel, Graphit, GraphitConfig};
pub use graphormer::{Graphormer, GraphormerConfig};
pub use graphrnn::{GraphRnnConfig, GraphRnnTransformerConfig};
pub use gt::{Gt, GtConfig};
pub use pace::{MASK_TOKENS, Pace, PaceConfig, Task};
pub use san::{San, SanConfig};
pub use svae::{Svae, SvaeConfig};
pub use svae_transformer::{SvaeTransformer, SvaeTransformerConfig};

/// The result of encoding a batch.
#[derive(Clone, Debug)]
pub struct Encoding {
    /// A vector per position, [B*N, D].
    pub nodes: Tensor<2>,
    /// A vector per graph, [B, G].
    pub graph: Tensor<2>,
}

/// A map from DAGs to vectors. A new encoder implements the four required methods; see `tests/it/gnn.rs` for a small one.
pub trait DagEncoder: Module + ModuleDisplay {
    /// Encodes a batch laid out by [`DagEncoder::layout`].
    fn encode(&self, batch: &DagBatch) -> Encoding;

    /// The layout of the batches that this encoder takes.
    fn layout(&self) -> &Layout;

    /// Width of a node vector, D.
    fn d_node(&self) -> usize;

    /// Width of a graph vector, G.
    fn d_graph(&self) -> usize;

    /// Faster ways to compute parts of an encoding, if the encoder has any.
    fn shortcuts(&self) -> Option<&dyn Shortcuts> {
        None
    }
}

/// Parts of an encoding that an encoder computes faster than all of [`DagEncoder::encode`]. `None` means that it cannot.
pub trait Shortcuts {
    /// The graph vectors, [B, G].
    fn graphs(&self, _batch: &DagBatch) -> Option<Tensor<2>> {
        None
    }

    /// The vectors of some nodes, by ascending rows of the B*N, [R, D].
    fn some_nodes(&self, _batch: &DagBatch, _rows: &[u32]) -> Option<Tensor<2>> {
        None
    }

    /// The graph vectors after a linear map, see [`EncodeParts::encode_through`].
    fn through(&self, _batch: &DagBatch, _map: &Linear) -> Option<Tensor<2>> {
        None
    }

    /// The node embedding, for decoders that share it.
    fn embedding(&self) -> Option<&NodeEmbedding> {
        None
    }
}

/// Parts of an encoding, by the encoder's [`Shortcuts`] if it has any. Implemented for every [`DagEncoder`].
///
/// # Panics
/// Every method panics if the batch is laid out for another encoder.
pub trait EncodeParts: DagEncoder {
    /// The graph vectors alone, [B, G].
    fn encode_graphs(&self, batch: &DagBatch) -> Tensor<2> {
        batch.check(self.layout());
        let short = self.shortcuts().and_then(|shortcuts| shortcuts.graphs(batch));
        short.unwrap_or_else(|| self.encode(batch).graph)
    }

    /// The vectors of some nodes, by ascending rows of the B*N, [R, D].
    fn encode_nodes(&self, batch: &DagBatch, rows: &[u32]) -> Tensor<2> {
        batch.check(self.layout());
        let short = self.shortcuts().and_then(|shortcuts| shortcuts.some_nodes(batch, rows));
        short.unwrap_or_else(|| {
            let indices = rows.iter().map(|&row| row as i32).collect();
            self.encode(batch).nodes.select(0, ints(indices, [rows.len()], &batch.device()))
        })
    }

    /// The graph vectors after a linear map from D to Z. A graph vector of width P*D is P blocks, and each is mapped by itself:
    /// [B, P*D] -> [B, P*Z].
    fn encode_through(&self, batch: &DagBatch, map: &Linear) -> Tensor<2> {
        batch.check(self.layout());
        let short = self.shortcuts().and_then(|shortcuts| shortcuts.through(batch, map));
        short.unwrap_or_else(|| by_blocks(map, self.encode_graphs(batch)))
    }

    /// The node embedding, for decoders that share it.
    fn shared_embedding(&self) -> Option<&NodeEmbedding> {
        self.shortcuts().and_then(Shortcuts::embedding)
    }
}

impl<E: DagEncoder> EncodeParts for E {}

/// Maps each of the P blocks of a graph vector. Shapes: [B, P*D] -> [B, P*Z].
pub(crate) fn by_blocks(map: &Linear, graph: Tensor<2>) -> Tensor<2> {
    let ([b, width], [d_in, d_out]) = (graph.dims(), map.weight.dims());
    let n_blocks = width / d_in;
    map.forward(graph.reshape([b * n_blocks, d_in])).reshape([b, n_blocks * d_out])
}

/// What an encoder is trained by. This decides about start symbols, tokens and readouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A variational autoencoder: graphs have a start symbol, which decoders need.
    Vae,
    /// Masked language modelling: MASK and PAD are separate tokens.
    Mlm,
}

impl Purpose {
    /// The layout of an encoder that wants no mask, for graphs of `spec` (given without start symbol).
    pub fn layout(self, spec: &DagSpec) -> Layout {
        match self {
            Purpose::Vae => Layout { padding: Padding::Full, ..Layout::plain(&spec.with_start_symbol()) },
            Purpose::Mlm => Layout { pad: (spec.n_ops() + MASK_TOKENS - 1) as Op, ..Layout::plain(spec) },
        }
    }

    /// How many tokens there are in batches of such a layout.
    pub fn n_tokens(self, layout: &Layout) -> usize {
        match self {
            Purpose::Vae => layout.spec.n_ops(),
            Purpose::Mlm => layout.spec.n_ops() + MASK_TOKENS,
        }
    }
}

/// The configuration of an encoder. It holds choices; facts about the data come from the spec.
pub trait EncoderSettings: Clone + Debug {
    /// The encoder that it initialises.
    type Encoder: DagEncoder;

    /// The usual choices for a purpose.
    fn preset(purpose: Purpose) -> Self;

    /// The layout this encoder needs for graphs of `spec` (given without start symbol).
    fn layout(&self, spec: &DagSpec) -> Layout;

    /// Initialises for graphs of `spec` (given without start symbol).
    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> Self::Encoder;
}

/// Lists the encoders: configuration, module, and name in programs.
macro_rules! encoders {
    ($($(#[$doc:meta])* $variant:ident($config:ident => $encoder:ident, $name:literal),)+) => {
        /// The configuration of any encoder.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum EncoderConfig {
            $($(#[$doc])* $variant($config),)+
        }

        /// Any encoder.
        #[derive(Module, Debug)]
        #[allow(clippy::large_enum_variant)]
        pub enum Encoder {
            $($(#[$doc])* $variant($encoder),)+
        }

        impl EncoderConfig {
            /// The names of all encoders.
            pub const NAMES: &[&str] = &[$($name),+];

            /// The usual choices of the encoder with this name; `None` if there is none.
            pub fn named(name: &str, purpose: Purpose) -> Option<EncoderConfig> {
                match name {
                    $($name => Some(EncoderConfig::$variant($config::preset(purpose))),)+
                    _ => None,
                }
            }

            /// The encoder's name.
            pub fn name(&self) -> &'static str {
                match self {
                    $(EncoderConfig::$variant(_) => $name,)+
                }
            }
        }

        impl EncoderSettings for EncoderConfig {
            type Encoder = Encoder;

            fn preset(purpose: Purpose) -> EncoderConfig {
                EncoderConfig::Pace(PaceConfig::preset(purpose))
            }

            fn layout(&self, spec: &DagSpec) -> Layout {
                match self {
                    $(EncoderConfig::$variant(config) => config.layout(spec),)+
                }
            }

            fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> Encoder {
                match self {
                    $(EncoderConfig::$variant(config) => Encoder::$variant(config.init(spec, seed, device)),)+
                }
            }
        }

        impl DagEncoder for Encoder {
            fn encode(&self, batch: &DagBatch) -> Encoding {
                match self {
                    $(Encoder::$variant(encoder) => encoder.encode(batch),)+
                }
            }

            fn layout(&self) -> &Layout {
                match self {
                    $(Encoder::$variant(encoder) => encoder.layout(),)+
                }
            }

            fn d_node(&self) -> usize {
                match self {
                    $(Encoder::$variant(encoder) => encoder.d_node(),)+
                }
            }

            fn d_graph(&self) -> usize {
                match self {
                    $(Encoder::$variant(encoder) => encoder.d_graph(),)+
                }
            }

            fn shortcuts(&self) -> Option<&dyn Shortcuts> {
                match self {
                    $(Encoder::$variant(encoder) => encoder.shortcuts(),)+
                }
            }
        }
    };
}

encoders! {
    /// Dag2seq and a masked Transformer.
    Pace(PaceConfig => Pace, "pace"),
    /// Graph convolutions along the edges, in topological order.
    Gcn(GcnConfig => Gcn, "gcn"),
    /// Sums of neighbours through perceptrons, read out after every layer.
    Gin(GinConfig => Gin, "gin"),
    /// Attention to neighbours.
    Gat(GatConfig => Gat, "gat"),
    /// Graph convolutions with a gate on every edge, and Laplacian positions.
    GatedGcn(GatedGcnConfig => GatedGcn, "gated_gcn"),
    /// Graph Transformer: attention to neighbours, Laplacian positional encodings.
    Gt(GtConfig => Gt, "gt"),
    /// Spectral Attention Network: learned Laplacian positions, separate attention along edges and elsewhere.
    San(SanConfig => San, "san"),
    /// Degrees in the input, distances in the attention, a virtual node.
    Graphormer(GraphormerConfig => Graphormer, "graphormer"),
    /// Attention multiplied by a kernel on the graph.
    Graphit(GraphitConfig => Graphit, "graphit"),
    /// A recurrent unit over rows of operation and edges.
    Svae(SvaeConfig => Svae, "svae"),
    /// A Transformer over rows of operation and edges.
    SvaeTransformer(SvaeTransformerConfig => SvaeTransformer, "svae_transformer"),
    /// A recurrent unit over rows that say how far back edges come from.
    GraphRnn(GraphRnnConfig => Svae, "graphrnn"),
    /// A Transformer over rows that say how far back edges come from.
    GraphRnnTransformer(GraphRnnTransformerConfig => SvaeTransformer, "graphrnn_transformer"),
    /// Rounds of messages along and against the edges, and a gated sum.
    DeepGmg(DeepGmgConfig => DeepGmg, "deepgmg"),
    /// A recursion along the edges, over gated states.
    Dvae(DvaeConfig => Dvae, "dvae"),
    /// Gated sums of operations, for Bayesian networks.
    DvaeBn(DvaeBnConfig => DvaeBn, "dvae_bn"),
    /// Stacked recursions along the edges, with attention.
    Dagnn(DagnnConfig => Dagnn, "dagnn"),
    /// The same without positions, for Bayesian networks.
    DagnnBn(DagnnBnConfig => Dagnn, "dagnn_bn"),
}

impl EncoderConfig {
    /// The configuration of PACE, for settings that only PACE has; `None` for any other encoder.
    pub fn as_pace_mut(&mut self) -> Option<&mut PaceConfig> {
        match self {
            EncoderConfig::Pace(config) => Some(config),
            _ => None,
        }
    }
}

/// A map from graphs of any kind to vectors, for objectives that need whole graphs only.
///
/// Implemented for every [`DagEncoder`]. Syntax trees come in batches of another type, so their encoder implements this alone.
pub trait GraphEncoder: Module + ModuleDisplay {
    /// What is encoded.
    type Batch: GraphBatch;

    /// The vector of each graph, [B, G].
    fn embed(&self, batch: &Self::Batch) -> Tensor<2>;

    /// Width of a graph vector, G.
    fn d_embedding(&self) -> usize;
}

impl<E: DagEncoder> GraphEncoder for E {
    type Batch = DagBatch;

    fn embed(&self, batch: &DagBatch) -> Tensor<2> {
        self.encode_graphs(batch)
    }

    fn d_embedding(&self) -> usize {
        self.d_graph()
    }
}
