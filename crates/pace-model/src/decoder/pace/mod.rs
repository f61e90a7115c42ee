//! The decoder of PACE-VAE (appendix D): Transformer decoder blocks over a memory made from the latent vector.

mod heads;
mod steps;

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};
use pace_graph::Dag;
use serde::{Deserialize, Serialize};

use super::{DagDecoder, DecoderSettings, Stepper};
use crate::Error;
use crate::batch::{Attention, DagBatch, Layout, Stream, floats, ints};
use crate::encoder::{PaceConfig, Task};
use crate::kernel::{self, Masks};
use crate::layers::{BlocksConfig, DecoderBlock, Init, NodeEmbedding, NodeEmbeddingConfig};
use steps::Steps;

pub use heads::Heads;

/// Configuration of [`PaceDecoder`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaceDecoderConfig {
    /// Node embedding; its width must be the encoder's if it is shared.
    pub embedding: NodeEmbeddingConfig,
    /// Use the encoder's node embedding: the published code.
    pub share_embedding: bool,
    /// Transformer blocks.
    pub blocks: BlocksConfig,
    /// Hidden width of the node head.
    pub d_hidden: usize,
    /// Biases in the node head; none in the published code on BN.
    pub node_bias: bool,
    /// Let a position read the memory slots of itself and its ancestors only: the published code passes the target mask to
    /// the attention over the memory. The paper's decoder is a standard one and reads all.
    pub masked_memory: bool,
    /// Row k of the memory is the slot of the operation at position k: the published code on BN. Wants as many nodes as
    /// operations.
    pub memory_by_op: bool,
}

impl PaceDecoderConfig {
    /// The paper's decoder for [`PaceConfig::vae`].
    pub fn vae() -> PaceDecoderConfig {
        let encoder = PaceConfig::vae();
        PaceDecoderConfig {
            embedding: encoder.embedding,
            share_embedding: false,
            blocks: encoder.blocks,
            d_hidden: 32,
            node_bias: true,
            masked_memory: false,
            memory_by_op: false,
        }
    }

    /// The decoder of the authors' code on NA or BN.
    pub fn as_published(task: Task) -> PaceDecoderConfig {
        let encoder = PaceConfig::as_published(task);
        PaceDecoderConfig {
            embedding: encoder.embedding,
            blocks: encoder.blocks,
            share_embedding: true,
            node_bias: task != Task::Bn,
            masked_memory: true,
            memory_by_op: task == Task::Bn,
            ..PaceDecoderConfig::vae()
        }
    }

    /// Initialises for latent vectors of width `d_latent` and graphs laid out by the encoder's `layout`.
    ///
    /// # Panics
    /// If the layout has no start symbol (the decoder shifts by it), or no mask (a position would see what it predicts), or
    /// more operations than a memory by operation has slots.
    pub fn init(&self, d_latent: usize, layout: &Layout, seed: u64, device: &Device) -> PaceDecoder {
        if let Err(error) = DecoderSettings::check(self, layout) {
            panic!("{error}");
        }
        assert!(layout.has_start(), "the decoder shifts right by a start symbol, and the layout has none");
        let mut init = Init::new(seed, device);
        let (n, d) = (layout.spec.max_nodes, self.embedding.d_model());
        let n_ops = layout.spec.n_ops();
        PaceDecoder {
            embedding: (!self.share_embedding).then(|| self.embedding.init(n_ops, layout.n_labels, &mut init)),
            memory: init.linear(d_latent, n * d, true),
            blocks: self.blocks.init_decoder(d, &mut init),
            heads: Heads::new(d, self.d_hidden, n_ops, self.node_bias, &mut init),
            config: self.clone(),
            layout: layout.clone(),
        }
    }
}

impl DecoderSettings for PaceDecoderConfig {
    type Decoder = PaceDecoder;

    fn preset() -> PaceDecoderConfig {
        PaceDecoderConfig::vae()
    }

    fn check(&self, layout: &Layout) -> Result<(), Error> {
        let (n_ops, n_slots) = (layout.spec.n_ops(), layout.spec.max_nodes);
        // The slot of a larger operation would be one of the next graph.
        if self.memory_by_op && n_ops > n_slots { Err(Error::FewSlots { n_ops, n_slots }) } else { Ok(()) }
    }

    fn init(&self, d_latent: usize, layout: &Layout, seed: u64, device: &Device) -> PaceDecoder {
        PaceDecoderConfig::init(self, d_latent, layout, seed, device)
    }
}

/// The PACE-VAE decoder.
#[derive(Module, Debug)]
pub struct PaceDecoder {
    embedding: Option<NodeEmbedding>,
    /// Z to N*D.
    memory: Linear,
    blocks: Vec<DecoderBlock>,
    heads: Heads,
    #[module(skip)]
    config: PaceDecoderConfig,
    #[module(skip)]
    layout: Layout,
}

impl PaceDecoder {
    /// The configuration this was made from.
    pub fn config(&self) -> &PaceDecoderConfig {
        &self.config
    }

    fn heads(&self) -> &Heads {
        &self.heads
    }

    fn blocks(&self) -> &[DecoderBlock] {
        &self.blocks
    }

    fn embedding<'a>(&'a self, shared: Option<&'a NodeEmbedding>) -> &'a NodeEmbedding {
        self.embedding.as_ref().or(shared).expect("a decoder that shares its node embedding is handed it")
    }

    /// The memory of each latent vector, flat. Shapes: [B, Z] -> [B*N, D].
    fn memory(&self, z: Tensor<2>) -> Tensor<2> {
        let ([b, _], n, d) = (z.dims(), self.layout.spec.max_nodes, self.config.embedding.d_model());
        self.memory.forward(z).reshape([b * n, d])
    }

    /// The vectors o_i under teacher forcing. Shapes: z [B, Z], batch [B, N] -> [B*N, D].
    pub fn states(&self, z: Tensor<2>, batch: &DagBatch, shared: Option<&NodeEmbedding>) -> Tensor<2> {
        let [b, n] = batch.dims();
        let dropout = |stream| batch.pass.dropout(self.config.blocks.dropout, stream);
        let tokens = batch.tokens();
        let embedding = self.embedding(shared);
        let x = embedding.forward(tokens.clone(), batch.dag2seq_features(), dropout(Stream::DecoderEmbedding));
        let mut memory = self.memory(z);
        if self.config.memory_by_op {
            let slots = (0..b as i32).flat_map(|graph| std::iter::repeat_n(graph * n as i32, n)).collect();
            memory = memory.select(0, tokens + ints(slots, [b * n], &batch.device()));
        }
        // Without a path mask the decoder must still not look ahead.
        let own = match self.layout.attention {
            Attention::Masked(_) => batch.bias(),
            Attention::Penalised(_) | Attention::Open => causal(b, n, batch),
        };
        let masks = Masks { memory: self.config.masked_memory.then(|| own.clone()), own };
        let layers = self.blocks.iter().map(DecoderBlock::params).collect();
        kernel::decoder(x, memory, masks, layers, &self.config.blocks.kernel(dropout(Stream::DecoderBlocks)))
    }

    /// The vectors o_i of given graphs, computed position by position with cached keys and values, as in decoding. Equal to
    /// [`PaceDecoder::states`]; for tests.
    ///
    /// Shapes: z [B, Z], B topologically numbered graphs without start symbol -> [B, D] for each position. Rows of positions
    /// beyond a graph's end mean nothing.
    pub fn replay(&self, z: Tensor<2>, dags: &[Dag], shared: Option<&NodeEmbedding>) -> Vec<Tensor<2>> {
        steps::replay(self, z, dags, shared)
    }
}

impl DagDecoder for PaceDecoder {
    fn nll(&self, z: Tensor<2>, batch: &DagBatch, shared: Option<&NodeEmbedding>) -> Tensor<1> {
        self.heads.nll(self.states(z, batch, shared), batch)
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn stepper<'a>(&'a self, z: Tensor<2>, shared: Option<&'a NodeEmbedding>) -> Box<dyn Stepper + 'a> {
        Box::new(Steps::new(self, z, shared))
    }
}

/// Every position sees itself and all before it. [B, N, N].
fn causal(b: usize, n: usize, batch: &DagBatch) -> Tensor<3> {
    let row = |query: usize| (0..n).map(move |key| if key <= query { 0.0 } else { f32::NEG_INFINITY });
    let one: Vec<f32> = (0..n).flat_map(row).collect();
    floats(one, [1, n, n], &batch.device()).repeat_dim(0, b)
}
