//! The decoder joint: latent vectors back to DAGs.
//!
//! A decoder implements [`DagDecoder`]: the likelihood of graphs, and a [`Stepper`] that generates them. Programs that choose a
//! decoder by name use [`DecoderConfig`], which lists all of them, and the [`Decoder`] that it initialises.

mod deepgmg;
mod dvae;
mod graphrnn;
mod pace;
mod svae;

use std::fmt::Debug;

use burn::module::{Module, ModuleDisplay};
use burn::tensor::{Device, Tensor};
use pace_graph::Dag;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::batch::{DagBatch, Layout, Structure};
use crate::generate::generate;
use crate::layers::NodeEmbedding;

pub use crate::generate::{Choice, DecodeOptions, EdgePicker, Edges, EdgesInTurn, Mode, NewNode, Stepper, Turns};
pub use deepgmg::{DeepGmgDecoder, DeepGmgDecoderConfig};
pub use dvae::{DvaeDecoder, DvaeDecoderConfig, GraphState};
pub use graphrnn::{GraphRnnDecoder, GraphRnnDecoderConfig};
pub use pace::{Heads, PaceDecoder, PaceDecoderConfig};
pub use svae::{SvaeDecoder, SvaeDecoderConfig};

/// A map from latent vectors to distributions over DAGs.
pub trait DagDecoder: Module + ModuleDisplay {
    /// The negative log-likelihood of each graph of `batch` given its latent vector, [B, Z] -> `[B]`.
    ///
    /// `shared` is the encoder's node embedding, for decoders made without one of their own.
    fn nll(&self, z: Tensor<2>, batch: &DagBatch, shared: Option<&NodeEmbedding>) -> Tensor<1>;

    /// The layout of the graphs.
    fn layout(&self) -> &Layout;

    /// What grows a graph from each latent vector, [B, Z].
    fn stepper<'a>(&'a self, z: Tensor<2>, shared: Option<&'a NodeEmbedding>) -> Box<dyn Stepper + 'a>;

    /// A graph for each latent vector, without start symbol, numbered in the order of decoding, which is topological.
    /// Shapes: [B, Z] -> B graphs.
    ///
    /// Use tensors without autodiff and `Module::valid` modules; otherwise every step is recorded for a backward pass.
    /// Memory grows with B. Callers cut large batches, with [`DecodeOptions::starting_at`] to keep the draws the same.
    /// [`Mode`] says which graphs are possible. Graphs of other modes than [`Mode::Constrained`] may be invalid, see
    /// `DagSpec::is_valid`.
    fn decode(&self, z: Tensor<2>, shared: Option<&NodeEmbedding>, options: &DecodeOptions) -> Vec<Dag> {
        let [count, _] = z.dims();
        if count == 0 {
            return Vec::new();
        }
        generate(&mut *self.stepper(z, shared), &self.layout().spec, count, options)
    }
}

/// The configuration of a decoder. It holds choices; facts about the data come from the layout.
pub trait DecoderSettings: Clone + Debug {
    /// The decoder that it initialises.
    type Decoder: DagDecoder;

    /// The usual choices.
    fn preset() -> Self;

    /// What the decoder wants to know about graphs, besides what the encoder does.
    fn structure(&self) -> Structure {
        Structure::NONE
    }

    /// Errs if the decoder cannot decode graphs of this layout.
    ///
    /// # Errors
    /// What does not fit, and what to do.
    fn check(&self, _layout: &Layout) -> Result<(), Error> {
        Ok(())
    }

    /// Initialises for latent vectors of width `d_latent` and graphs laid out by the encoder's `layout`.
    fn init(&self, d_latent: usize, layout: &Layout, seed: u64, device: &Device) -> Self::Decoder;
}

/// Lists the decoders: configuration, module, and name in programs, with the names of other choices that have one.
macro_rules! decoders {
    ($($(#[$doc:meta])* $variant:ident(
        $config:ident => $decoder:ident, $name:literal $(, $other:literal => $make:ident)*
    ),)+) => {
        /// The configuration of any decoder.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum DecoderConfig {
            $($(#[$doc])* $variant($config),)+
        }

        /// Any decoder.
        #[derive(Module, Debug)]
        #[allow(clippy::large_enum_variant)]
        pub enum Decoder {
            $($(#[$doc])* $variant($decoder),)+
        }

        impl DecoderConfig {
            /// The names of all decoders.
            pub const NAMES: &[&str] = &[$($name, $($other,)*)+];

            /// The usual choices of the decoder with this name; `None` if there is none.
            pub fn named(name: &str) -> Option<DecoderConfig> {
                match name {
                    $(
                        $name => Some(DecoderConfig::$variant($config::preset())),
                        $($other => Some(DecoderConfig::$variant($config::$make())),)*
                    )+
                    _ => None,
                }
            }

            /// The decoder's name, whatever its choices.
            pub fn name(&self) -> &'static str {
                match self {
                    $(DecoderConfig::$variant(_) => $name,)+
                }
            }
        }

        impl DecoderSettings for DecoderConfig {
            type Decoder = Decoder;

            fn preset() -> DecoderConfig {
                DecoderConfig::Pace(PaceDecoderConfig::preset())
            }

            fn structure(&self) -> Structure {
                match self {
                    $(DecoderConfig::$variant(config) => config.structure(),)+
                }
            }

            fn check(&self, layout: &Layout) -> Result<(), Error> {
                match self {
                    $(DecoderConfig::$variant(config) => config.check(layout),)+
                }
            }

            fn init(&self, d_latent: usize, layout: &Layout, seed: u64, device: &Device) -> Decoder {
                match self {
                    $(DecoderConfig::$variant(config) => {
                        Decoder::$variant(config.init(d_latent, layout, seed, device))
                    })+
                }
            }
        }

        impl DagDecoder for Decoder {
            fn nll(&self, z: Tensor<2>, batch: &DagBatch, shared: Option<&NodeEmbedding>) -> Tensor<1> {
                match self {
                    $(Decoder::$variant(decoder) => decoder.nll(z, batch, shared),)+
                }
            }

            fn layout(&self) -> &Layout {
                match self {
                    $(Decoder::$variant(decoder) => decoder.layout(),)+
                }
            }

            fn stepper<'a>(&'a self, z: Tensor<2>, shared: Option<&'a NodeEmbedding>) -> Box<dyn Stepper + 'a> {
                match self {
                    $(Decoder::$variant(decoder) => decoder.stepper(z, shared),)+
                }
            }
        }
    };
}

decoders! {
    /// A Transformer that reads the latent vector as a memory.
    Pace(PaceDecoderConfig => PaceDecoder, "pace"),
    /// All rows of operation and edges from the latent vector alone.
    Svae(SvaeDecoderConfig => SvaeDecoder, "svae", "svae_transformer" => transformer),
    /// Row by row, and bit by bit within a row.
    GraphRnn(GraphRnnDecoderConfig => GraphRnnDecoder, "graphrnn", "graphrnn_transformer" => transformer),
    /// Messages before every decision, and edges picked one by one.
    DeepGmg(DeepGmgDecoderConfig => DeepGmgDecoder, "deepgmg"),
    /// A recursion over the graph so far, which decides edge by edge.
    Dvae(DvaeDecoderConfig => DvaeDecoder, "dvae", "dvae_bn" => dvae_bn, "dagnn" => dagnn, "dagnn_bn" => dagnn_bn),
}

impl DecoderConfig {
    /// The configuration of PACE's decoder; `None` for any other.
    pub fn as_pace_mut(&mut self) -> Option<&mut PaceDecoderConfig> {
        match self {
            DecoderConfig::Pace(config) => Some(config),
            _ => None,
        }
    }
}
