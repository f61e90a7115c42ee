//! PACE on abstract syntax trees (appendix F): the encoder of OGBG-CODE2.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::GraphEncoder;
use crate::ast::{AstAttention, AstBatch, AstLayout, Packing};
use crate::batch::Stream;
use crate::kernel::Dropout;
use crate::layers::{
    AstEmbedding, BlocksConfig, EncoderStack, Init, Keys, NormPlacement, TreeMessages, TreeMessagesConfig,
};

/// Configuration of [`AstPace`].
///
/// The paper gives 6 layers and DFS order as canonical order; the rest is not published and follows the other models.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AstPaceConfig {
    /// Width D.
    pub d_model: usize,
    /// Transformer blocks.
    pub blocks: BlocksConfig,
    /// Deeper nodes count as this deep.
    pub max_depth: usize,
    /// How many positions of the walk have an embedding: nodes from `n_positions - 1` on share the last one. 1,000 in
    /// [`AstPaceConfig::code2`]; set it to the largest tree to tell all nodes apart. See [`AstLayout::n_positions`].
    pub n_positions: usize,
    /// Padded or packed batches.
    pub packing: Packing,
    /// What a node knows about the nodes around it before it attends to others: f(G_i^h) of the paper's last appendix, or its
    /// unpublished GNN.
    #[serde(default)]
    pub messages: TreeMessagesConfig,
}

impl AstPaceConfig {
    /// 6 post-norm blocks of width 256 with 8 heads.
    pub fn code2() -> AstPaceConfig {
        let blocks = BlocksConfig {
            n_layers: 6,
            n_heads: 8,
            d_ff: 256,
            dropout: 0.1,
            norm: NormPlacement::Post,
            tied_init: false,
        };
        let messages = TreeMessagesConfig::default();
        AstPaceConfig { d_model: 256, blocks, max_depth: 20, n_positions: 1000, packing: Packing::Packed, messages }
    }

    /// The layout this model needs for trees with `n_types` node types and `n_attributes` attributes.
    pub fn layout(&self, n_types: usize, n_attributes: usize) -> AstLayout {
        let AstPaceConfig { max_depth, n_positions, packing, .. } = *self;
        AstLayout { n_types, n_attributes, max_depth, n_positions, packing }
    }

    /// Initialises for trees with `n_types` node types and `n_attributes` attributes.
    pub fn init(&self, n_types: usize, n_attributes: usize, seed: u64, device: &Device) -> AstPace {
        let mut init = Init::new(seed, device);
        let layout = self.layout(n_types, n_attributes);
        AstPace {
            embedding: AstEmbedding::new(&layout, self.d_model, &mut init),
            messages: self.messages.init(self.d_model, &mut init),
            stack: EncoderStack::new(&self.blocks, self.d_model, &mut init),
            config: *self,
            layout,
        }
    }
}

/// The PACE encoder of trees: every node reads itself and its descendants, and the root is read out.
///
/// Batches may be padded or packed, whatever the configuration says; both give the same vectors.
#[derive(Module, Debug)]
pub struct AstPace {
    embedding: AstEmbedding,
    messages: TreeMessages,
    stack: EncoderStack,
    #[module(skip)]
    config: AstPaceConfig,
    #[module(skip)]
    layout: AstLayout,
}

impl AstPace {
    /// The configuration this was made from.
    pub fn config(&self) -> &AstPaceConfig {
        &self.config
    }

    /// How this encoder wants its trees.
    pub fn layout(&self) -> &AstLayout {
        &self.layout
    }

    /// The node vectors. Shapes: batch of R rows -> [R, D].
    pub fn nodes(&self, batch: &AstBatch) -> Tensor<2> {
        let (x, keys, dropout) = self.inputs(batch);
        self.stack.forward(x, &keys, dropout)
    }

    /// Some of them, ascending. Shapes: batch of R rows, S of them -> [S, D].
    pub fn nodes_at(&self, batch: &AstBatch, rows: &[u32]) -> Tensor<2> {
        let (x, keys, dropout) = self.inputs(batch);
        self.stack.forward_at(x, &keys, rows, dropout)
    }

    /// The input of the blocks: embedded nodes, their keys, and dropout.
    fn inputs<'b>(&self, batch: &'b AstBatch) -> (Tensor<2>, Keys<'b>, Dropout) {
        let dropout = |stream| batch.pass.dropout(self.config.blocks.dropout, stream);
        let label = self.messages.forward(self.embedding.label(batch), batch);
        let x = self.embedding.join(label, batch, dropout(Stream::EncoderEmbedding));
        let keys = match &batch.attention {
            AstAttention::Dense(bias) => Keys::Bias(bias.clone()),
            AstAttention::Sparse(lists) => Keys::Lists(lists),
        };
        (x, keys, dropout(Stream::EncoderBlocks))
    }
}

impl GraphEncoder for AstPace {
    type Batch = AstBatch;

    fn embed(&self, batch: &AstBatch) -> Tensor<2> {
        self.nodes_at(batch, &batch.roots())
    }

    fn d_embedding(&self) -> usize {
        self.config.d_model
    }
}
