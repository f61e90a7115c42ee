//! PACE: dag2seq and a masked Transformer encoder (sections 3.1 and 3.2 of the paper).

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};
use pace_graph::structure::MaskRule;
use pace_graph::{DagSpec, Op};
use serde::{Deserialize, Serialize};

use super::{DagEncoder, EncoderSettings, Encoding, Purpose, Shortcuts};
use crate::batch::{
    Attention, DagBatch, Label, Layout, Neighbours, Order, Padding, Pass, Stream, Structure, rooted_width,
};
use crate::kernel::{self, Dropout, Pasts};
use crate::layers::{
    BlocksConfig, EncoderStack, Init, Join, Keys, NodeEmbedding, NodeEmbeddingConfig, NodeLabel, NormPlacement,
    OpEmbedding, PositionConfig, Readout, RootedEmbedding,
};

/// The special tokens that follow the operations in a dictionary with them: MASK, then PAD.
pub const MASK_TOKENS: usize = 2;

/// What the authors ran, see [`PaceConfig::as_published`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// PACE-VAE on ENAS architectures.
    Na,
    /// PACE-VAE on Bayesian networks.
    Bn,
    /// PACE-MLM on NAS-Bench-101.
    Nas101,
    /// PACE-MLM on NAS-Bench-301.
    Nas301,
}

/// Configuration of [`Pace`]. Ablations are fields: `attention: Attention::Open`, `position: PositionConfig::None`.
///
/// If the paper and the published code differ, [`PaceConfig::vae`] and [`PaceConfig::mlm`] follow the paper's principle
/// (canonical topological order, attention to ancestors and itself, predecessors in the GNN) and its widths, and
/// [`PaceConfig::as_published`] follows the code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaceConfig {
    /// Node embedding.
    pub embedding: NodeEmbeddingConfig,
    /// What a node is embedded by: its operation, or the subgraph around it.
    #[serde(default)]
    pub node_label: NodeLabel,
    /// Transformer blocks.
    pub blocks: BlocksConfig,
    /// Readout.
    pub readout: Readout,
    /// Order of the sequence.
    pub order: Order,
    /// What the positional encoding takes for an index.
    pub label: Label,
    /// Neighbours in the positional encoding.
    pub neighbours: Neighbours,
    /// Attention mask.
    pub attention: Attention,
    /// A start symbol in front, which the VAE's decoder needs.
    pub start_symbol: bool,
    /// Separate tokens for MASK and PAD. Otherwise padding uses the end symbol.
    pub special_tokens: bool,
}

impl PaceConfig {
    /// The encoder of PACE-VAE: 64 + 64 wide, 3 post-norm blocks, all positions read out.
    pub fn vae() -> PaceConfig {
        PaceConfig {
            embedding: NodeEmbeddingConfig {
                op: OpEmbedding::ReluLinear,
                d_op: 64,
                position: PositionConfig::Dag2Seq,
                d_position: 64,
                join: Join::Concat,
            },
            node_label: NodeLabel::Op,
            blocks: BlocksConfig {
                n_layers: 3,
                n_heads: 8,
                d_ff: 64,
                dropout: 0.15,
                norm: NormPlacement::Post,
                tied_init: false,
            },
            readout: Readout::Concat,
            order: Order::Canonical,
            label: Label::Position,
            neighbours: Neighbours::Predecessors,
            attention: Attention::Masked(MaskRule::PACE),
            start_symbol: true,
            special_tokens: false,
        }
    }

    /// The same with operations and positions embedded in `width` dimensions each. The paper has 64, the authors' code 32 on NA
    /// and BN.
    #[must_use]
    pub fn of_width(mut self, width: usize) -> PaceConfig {
        (self.embedding.d_op, self.embedding.d_position) = (width, width);
        self
    }

    /// The encoder of PACE-MLM: 64 wide, MASK and PAD tokens, the output node read out.
    pub fn mlm() -> PaceConfig {
        let vae = PaceConfig::vae();
        PaceConfig {
            embedding: NodeEmbeddingConfig { join: Join::Sum, ..vae.embedding },
            blocks: BlocksConfig { dropout: 0.1, ..vae.blocks },
            readout: Readout::Output,
            start_symbol: false,
            special_tokens: true,
            ..vae
        }
    }

    /// The model of the authors' code, quirks included; `docs/ARCHITECTURE.md` lists the differences.
    ///
    /// The authors label NAS cells with BLISS, which is not at hand; the label here is our canonical index.
    pub fn as_published(task: Task) -> PaceConfig {
        let mut config = match task {
            // Half of the widths that the paper states.
            Task::Na | Task::Bn => PaceConfig::vae().of_width(32),
            Task::Nas101 | Task::Nas301 => PaceConfig::mlm(),
        };
        config.order = Order::Stored;
        config.blocks.tied_init = true;
        match task {
            Task::Na => {}
            Task::Bn => {
                config.label = Label::Op;
                config.readout = Readout::ByOp;
                config.blocks.dropout = 0.25;
            }
            Task::Nas101 | Task::Nas301 => {
                config.embedding.op = OpEmbedding::ScaledTable;
                let scale = if task == Task::Nas101 { 0.01 } else { 0.1 };
                config.embedding.position = PositionConfig::Sinusoid { scale };
                config.label = Label::Canonical;
                config.neighbours = Neighbours::Successors;
                config.attention = Attention::Penalised(MaskRule::REFERENCE_MLM);
                config.readout = Readout::LastPosition;
                config.blocks.norm = NormPlacement::Pre;
                config.special_tokens = false;
            }
        }
        config
    }

    /// The layout this model needs for graphs of `spec` (given without start symbol).
    pub fn layout(&self, spec: &DagSpec) -> Layout {
        let published_mlm = matches!(self.attention, Attention::Penalised(_));
        let full = self.readout == Readout::Concat || self.readout == Readout::LastPosition || spec.max_nodes <= 16;
        let spec = if self.start_symbol { spec.with_start_symbol() } else { spec.clone() };
        let n_labels = match self.label {
            Label::Op => spec.n_ops(),
            Label::Position | Label::Canonical => spec.max_nodes,
        };
        let end = spec.output.unwrap_or(0);
        let pad = match self.special_tokens {
            true => (spec.n_ops() + 1) as Op,
            // The published MLM code pads with id 0, which is also an operation.
            false => {
                if published_mlm {
                    0
                } else {
                    end
                }
            }
        };
        Layout {
            order: self.order,
            label: self.label,
            n_labels,
            neighbours: self.neighbours,
            attention: self.attention,
            padding: if full { Padding::Full } else { Padding::Longest },
            pad,
            structure: match self.node_label {
                NodeLabel::Op => Structure::NONE,
                NodeLabel::Rooted { height } => Structure::NONE.rooted(height, spec.max_nodes),
            },
            spec,
        }
    }

    /// Initialises for graphs of `spec` (given without start symbol).
    pub fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> Pace {
        let mut init = Init::new(seed, device);
        let layout = self.layout(spec);
        let n_tokens = layout.spec.n_ops() + if self.special_tokens { MASK_TOKENS } else { 0 };
        let d = self.embedding.d_model();
        let (embedding, rooted) = match self.node_label {
            NodeLabel::Op => (Some(self.embedding.init(n_tokens, layout.n_labels, &mut init)), None),
            NodeLabel::Rooted { .. } => {
                let n_features = rooted_width(&layout);
                (None, Some(RootedEmbedding::new(&self.embedding, n_features, layout.n_labels, &mut init)))
            }
        };
        Pace { embedding, rooted, stack: EncoderStack::new(&self.blocks, d, &mut init), config: self.clone(), layout }
    }
}

impl EncoderSettings for PaceConfig {
    type Encoder = Pace;

    fn preset(purpose: Purpose) -> PaceConfig {
        match purpose {
            Purpose::Vae => PaceConfig::vae(),
            Purpose::Mlm => PaceConfig::mlm(),
        }
    }

    fn layout(&self, spec: &DagSpec) -> Layout {
        PaceConfig::layout(self, spec)
    }

    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> Pace {
        PaceConfig::init(self, spec, seed, device)
    }
}

/// The PACE encoder.
#[derive(Module, Debug)]
pub struct Pace {
    /// Of operations ...
    embedding: Option<NodeEmbedding>,
    /// ... or of subgraphs.
    rooted: Option<RootedEmbedding>,
    stack: EncoderStack,
    #[module(skip)]
    config: PaceConfig,
    #[module(skip)]
    layout: Layout,
}

impl Pace {
    /// The configuration this was made from.
    pub fn config(&self) -> &PaceConfig {
        &self.config
    }

    /// The node vectors. Shapes: batch [B, N] -> [B*N, D].
    pub fn nodes(&self, batch: &DagBatch) -> Tensor<2> {
        match self.shared(batch, None) {
            Some((nodes, pasts)) => pasts.expand(nodes, None),
            None => {
                let (x, keys, dropout) = self.inputs(batch);
                self.stack.forward(x, &keys, dropout)
            }
        }
    }

    /// The vectors of some nodes, by ascending rows. Shapes: batch [B, N], R rows of B*N -> [R, D].
    pub fn nodes_at(&self, batch: &DagBatch, rows: &[u32]) -> Tensor<2> {
        match self.shared(batch, Some(rows)) {
            Some((nodes, pasts)) => pasts.expand(nodes, Some(rows)),
            None => {
                let (x, keys, dropout) = self.inputs(batch);
                self.stack.forward_at(x, &keys, rows, dropout)
            }
        }
    }

    /// The vectors of the distinct pasts of all or some rows, [pasts, D]. `None` in training: dropout makes equal nodes differ,
    /// and autodiff needs every node. `None` for subgraphs around nodes, too: they know the future.
    fn shared<'b>(&self, batch: &'b DagBatch, rows: Option<&[u32]>) -> Option<(Tensor<2>, &'b Pasts)> {
        let embedding = self.embedding.as_ref()?;
        let distinct = (batch.pass == Pass::Eval && !batch.device().is_autodiff()).then(|| batch.distinct())??;
        let none = Dropout::NONE;
        let x = embedding.forward(distinct.tokens.clone(), distinct.features.clone(), none);
        Some((self.stack.forward_shared(x, &distinct.pasts, rows), &distinct.pasts))
    }

    /// The input of the blocks: embedded nodes, their keys, and dropout.
    fn inputs(&self, batch: &DagBatch) -> (Tensor<2>, Keys<'static>, Dropout) {
        let dropout = |stream| batch.pass.dropout(self.config.blocks.dropout, stream);
        let (features, of_embedding) = (batch.dag2seq_features(), dropout(Stream::EncoderEmbedding));
        let x = match (&self.embedding, &self.rooted) {
            (_, Some(rooted)) => rooted.forward(batch.rooted_features(), features, of_embedding),
            (Some(embedding), None) => embedding.forward(batch.tokens(), features, of_embedding),
            (None, None) => unreachable!("made with one of them"),
        };
        (x, Keys::Bias(batch.bias()), dropout(Stream::EncoderBlocks))
    }
}

impl DagEncoder for Pace {
    fn encode(&self, batch: &DagBatch) -> Encoding {
        let nodes = self.nodes(batch);
        let graph = self.config.readout.forward(nodes.clone(), self.layout.spec.n_ops(), batch);
        Encoding { graph, nodes }
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn d_node(&self) -> usize {
        self.config.embedding.d_model()
    }

    fn d_graph(&self) -> usize {
        let spec = &self.layout.spec;
        self.config.readout.d_graph(spec.max_nodes, spec.n_ops(), self.d_node())
    }

    fn shortcuts(&self) -> Option<&dyn Shortcuts> {
        Some(self)
    }
}

impl Shortcuts for Pace {
    fn graphs(&self, batch: &DagBatch) -> Option<Tensor<2>> {
        self.config.readout.rows(batch).map(|rows| self.nodes_at(batch, &rows))
    }

    fn some_nodes(&self, batch: &DagBatch, rows: &[u32]) -> Option<Tensor<2>> {
        Some(self.nodes_at(batch, rows))
    }

    fn through(&self, batch: &DagBatch, map: &Linear) -> Option<Tensor<2>> {
        let (nodes, pasts) = (self.config.readout == Readout::Concat).then(|| self.shared(batch, None))??;
        match (map.weight.dims()[0], &map.bias) {
            (d_in, Some(bias)) if d_in == self.d_graph() => {
                Some(kernel::concat_linear(nodes, pasts, map.weight.val(), bias.val()))
            }
            (d_in, _) if d_in == self.d_node() => {
                let [b, _] = batch.dims();
                Some(pasts.expand(map.forward(nodes), None).reshape([b as i32, -1]))
            }
            _ => None,
        }
    }

    fn embedding(&self) -> Option<&NodeEmbedding> {
        self.embedding.as_ref()
    }
}
