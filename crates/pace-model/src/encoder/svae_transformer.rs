//! "S-VAE (Transformer)" of Table 5: the string of S-VAE under a Transformer instead of a recurrent unit.
//!
//! ```text
//! x_j = [onehot(o_j) ; bits of the edges i -> j]      e_j = W x_j + b + p_j      h = Transformer(e)
//! ```
//!
//! Every node attends to every node, and p_j is a learned vector of position j. The paper compares this with PACE to tell dag2seq
//! from the Transformer, and gives no dimensions: blocks, widths and readouts are those of PACE.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};
use pace_graph::DagSpec;
use serde::{Deserialize, Serialize};

use super::{DagEncoder, EncoderSettings, Encoding, PaceConfig, Purpose};
use crate::batch::{DagBatch, Layout, Order, Padding, Stream, ints};
use crate::layers::{BlocksConfig, EdgeBits, EncoderStack, Init, Keys, Readout, StringRows};

/// Configuration of [`SvaeTransformer`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SvaeTransformerConfig {
    /// What it is trained by.
    pub purpose: Purpose,
    /// Order of the string; S-VAE takes the stored one.
    pub order: Order,
    /// Which bit stands for which edge.
    pub bits: EdgeBits,
    /// Width of a node, D.
    pub d_model: usize,
    /// Transformer blocks. Their dropout is also that of the node embedding.
    pub blocks: BlocksConfig,
    /// Readout.
    pub readout: Readout,
}

impl EncoderSettings for SvaeTransformerConfig {
    type Encoder = SvaeTransformer;

    fn preset(purpose: Purpose) -> SvaeTransformerConfig {
        let pace = PaceConfig::preset(purpose);
        SvaeTransformerConfig {
            purpose,
            order: Order::Stored,
            bits: EdgeBits::FromPosition,
            d_model: pace.embedding.d_model(),
            blocks: pace.blocks,
            readout: pace.readout,
        }
    }

    fn layout(&self, spec: &DagSpec) -> Layout {
        let layout = self.purpose.layout(spec);
        let full = matches!(self.readout, Readout::Concat | Readout::LastPosition);
        Layout { order: self.order, padding: if full { Padding::Full } else { layout.padding }, ..layout }
    }

    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> SvaeTransformer {
        let (mut init, layout) = (Init::new(seed, device), self.layout(spec));
        let n = layout.spec.max_nodes;
        let rows = StringRows::new(self.purpose.n_tokens(&layout), n, self.bits);
        SvaeTransformer {
            map: init.linear(rows.width(), self.d_model, true),
            positions: init.uniform([n, self.d_model], 1.0 / (n as f64).sqrt()),
            stack: EncoderStack::new(&self.blocks, self.d_model, &mut init),
            rows,
            config: self.clone(),
            layout,
        }
    }
}

/// The encoder of S-VAE with a Transformer.
#[derive(Module, Debug)]
pub struct SvaeTransformer {
    map: Linear,
    /// p, [N, D].
    positions: Param<Tensor<2>>,
    stack: EncoderStack,
    #[module(skip)]
    rows: StringRows,
    #[module(skip)]
    config: SvaeTransformerConfig,
    #[module(skip)]
    layout: Layout,
}

impl SvaeTransformer {
    /// The node vectors. Shapes: batch [B, N] -> [B*N, D].
    fn nodes(&self, batch: &DagBatch) -> Tensor<2> {
        let ([b, n], [known, _]) = (batch.dims(), self.positions.dims());
        let dropout = |stream| batch.pass.dropout(self.config.blocks.dropout, stream);
        // Only padding stands beyond the last position that the model knows.
        let places = (0..n).map(|position| position.min(known - 1) as i32).collect();
        let positions = self.positions.val().select(0, ints(places, [n], &batch.device())).repeat_dim(0, b);
        let x = self.map.forward(self.rows.of_batch(batch)) + positions;
        let x = dropout(Stream::EncoderEmbedding).apply(0, x);
        self.stack.forward(x, &Keys::Bias(batch.bias()), dropout(Stream::EncoderBlocks))
    }
}

impl DagEncoder for SvaeTransformer {
    fn encode(&self, batch: &DagBatch) -> Encoding {
        let nodes = self.nodes(batch);
        let graph = self.config.readout.forward(nodes.clone(), self.layout.spec.n_ops(), batch);
        Encoding { nodes, graph }
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn d_node(&self) -> usize {
        self.config.d_model
    }

    fn d_graph(&self) -> usize {
        let spec = &self.layout.spec;
        self.config.readout.d_graph(spec.max_nodes, spec.n_ops(), self.config.d_model)
    }
}
