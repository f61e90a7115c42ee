//! PACE on abstract syntax trees (appendix F): the encoder of OGBG-CODE2.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use crate::ast::{AstAttention, AstBatch, AstLayout, Attends, Packing};
use crate::batch::{Stream, ints};
use crate::encoder::GraphEncoder;
use crate::kernel::Dropout;
use crate::layers::{
    AstEmbedding, BlocksConfig, EncoderStack, Init, Keys, NormPlacement, Segments, TreeMessages, TreeMessagesConfig,
};

/// Which nodes make the vector of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AstReadout {
    /// The root, which attends to all nodes unless they attend to their ancestors only.
    #[default]
    Root,
    /// The mean of all nodes.
    Mean,
}

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
    /// Whom a node attends to.
    #[serde(default)]
    pub attends: Attends,
    /// Which nodes make the vector of a tree.
    #[serde(default)]
    pub readout: AstReadout,
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
        AstPaceConfig {
            d_model: 256,
            blocks,
            max_depth: 20,
            n_positions: 1000,
            packing: Packing::Packed,
            messages: TreeMessagesConfig::default(),
            attends: Attends::default(),
            readout: AstReadout::default(),
        }
    }

    /// The layout this model needs for trees with `n_types` node types and `n_attributes` attributes.
    pub fn layout(&self, n_types: usize, n_attributes: usize) -> AstLayout {
        let AstPaceConfig { max_depth, n_positions, packing, attends, .. } = *self;
        AstLayout { n_types, n_attributes, max_depth, n_positions, packing, attends }
    }

    /// Initialises for trees with `n_types` node types and `n_attributes` attributes.
    ///
    /// # Panics
    /// If the root is read out and knows nothing but itself.
    pub fn init(&self, n_types: usize, n_attributes: usize, seed: u64, device: &Device) -> AstPace {
        let is_blind = self.attends == Attends::Ancestors && self.readout == AstReadout::Root;
        assert!(!is_blind, "the root has no ancestors to attend to; read out the mean of all nodes");
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

/// The PACE encoder of trees: every node reads itself and its descendants, and the root is read out; the fields `attends` and
/// `readout` choose otherwise.
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
        match self.config.readout {
            AstReadout::Root => self.nodes_at(batch, &batch.roots()),
            AstReadout::Mean => mean_of_nodes(self.nodes(batch), batch),
        }
    }

    fn d_embedding(&self) -> usize {
        self.config.d_model
    }
}

/// The mean of the nodes of each tree. Shapes: [R, D] -> [B, D].
pub(super) fn mean_of_nodes(x: Tensor<2>, batch: &AstBatch) -> Tensor<2> {
    let ((rows, trees), device) = (batch.node_rows(), x.device());
    let segments = Segments::new(trees, batch.lengths.len(), &device);
    let nodes = match rows.len() < batch.n_rows() {
        true => x.select(0, ints(rows.iter().map(|&row| row as i32).collect(), [rows.len()], &device)),
        false => x,
    };
    segments.mean(nodes)
}
