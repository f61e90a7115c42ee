//! [`Steps`]: the decoder's vectors one position at a time, with everything earlier kept.
//!
//! A position attends to itself and to earlier positions only, so its vector in every block is final as soon as its node
//! and in-edges are known. Each step computes one row per graph against the keys and values of the rows before:
//! O(t D + D^2) per graph and block instead of the O(t^2 D + t D^2) of running the whole sequence again.

use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};
use pace_graph::structure::{Direction, MaskRule};
use pace_graph::{Dag, Draft};

use super::PaceDecoder;
use crate::batch::{Attention, Label, Neighbours, Order, floats, ints};
use crate::decoder::{DagDecoder, Edges, Stepper};
use crate::kernel::{self, BlockConfig, DecoderParams, Dropout, NormParams, NormPlacement};
use crate::layers::{DecoderBlock, NodeEmbedding};

/// A batch of B graphs being decoded in step.
pub(super) struct Steps<'a> {
    decoder: &'a PaceDecoder,
    embedding: &'a NodeEmbedding,
    settings: BlockConfig,
    layers: Vec<Layer>,
    /// Source halves of the edge head at the positions so far, [B, t, D].
    sources: Option<Tensor<3>>,
    /// Logits of the edges to the next node, [B, t].
    edges: Option<Tensor<2>>,
    batch: usize,
    /// Positions computed so far.
    t: usize,
    device: Device,
}

/// One decoder block and what it remembers.
struct Layer {
    params: DecoderParams,
    /// Keys and values of the positions so far, [B, t, 2D].
    own: Option<Tensor<3>>,
    /// Keys and values of the memory slots, [B*N, 2D].
    slots: Tensor<2>,
    /// With the memory by operation: those of the positions so far, [B, t, 2D].
    read: Option<Tensor<3>>,
}

/// What one step adds to the attention scores.
struct Biases {
    /// [B, 1, t].
    own: Tensor<3>,
    /// [B, 1, slots].
    memory: Option<Tensor<3>>,
}

impl<'a> Steps<'a> {
    /// Ready for position 0. Shapes: z [B, Z].
    ///
    /// # Panics
    /// If a position's vector depends on what follows it: attention to descendants, successors or canonical indices in the
    /// positional encoding, or a memory by operation that is read as a whole.
    pub fn new(decoder: &'a PaceDecoder, z: Tensor<2>, shared: Option<&'a NodeEmbedding>) -> Steps<'a> {
        let (layout, config) = (decoder.layout(), decoder.config());
        if let Attention::Masked(rule) = layout.attention {
            assert!(rule.direction == Direction::Ancestors, "decoding runs along the edges, and {rule:?} looks ahead");
        }
        assert!(layout.neighbours == Neighbours::Predecessors, "successors are not known while decoding");
        let canonical = layout.label == Label::Canonical && layout.order == Order::Stored;
        assert!(!canonical, "canonical indices of a graph are not known while decoding it");
        let by_op = config.memory_by_op;
        assert!(!by_op || config.masked_memory, "a memory by operation, read as a whole, tells the operations to come");
        let ([batch, _], device) = (z.dims(), z.device());
        let memory = decoder.memory(z);
        let layer = |block: &DecoderBlock| {
            let params = block.params();
            let slots = linear(memory.clone(), &params.cross.wkv, &params.cross.bkv);
            Layer { params, own: None, slots, read: None }
        };
        Steps {
            embedding: decoder.embedding(shared),
            settings: config.blocks.kernel(Dropout::NONE),
            layers: decoder.blocks().iter().map(layer).collect(),
            sources: None,
            edges: None,
            batch,
            t: 0,
            device,
            decoder,
        }
    }

    /// The vectors of the next position, of which every draft knows node and in-edges, or is done. Shapes: [B, D].
    fn advance(&mut self, drafts: &[Draft]) -> Tensor<2> {
        let (b, t, device) = (self.batch, self.t, &self.device);
        debug_assert_eq!(drafts.len(), b);
        let layout = self.decoder.layout();
        let ops: Vec<i32> =
            drafts.iter().map(|draft| draft.ops().get(t).copied().unwrap_or(layout.pad).into()).collect();
        let (features, biases) = (self.features(drafts), self.biases(drafts));
        let mut x = self.embedding.forward(ints(ops.clone(), [b], device), features, Dropout::NONE);
        if self.decoder.config().memory_by_op {
            let n = layout.spec.max_nodes as i32;
            let slots = ops.iter().enumerate().map(|(graph, op)| graph as i32 * n + op).collect();
            let slots = ints(slots, [b], device);
            self.layers.iter_mut().for_each(|layer| {
                let row = layer.slots.clone().select(0, slots.clone());
                append(&mut layer.read, row);
            });
        }
        for layer in &mut self.layers {
            x = layer.step(x, &biases, &self.settings);
        }
        self.t += 1;
        x
    }

    /// `[onehot(label) ; sum over predecessors of onehot(label)]` at the next position, [B, 2P]; see `DagBatch::dag2seq_features`.
    fn features(&self, drafts: &[Draft]) -> Tensor<2> {
        let (layout, t) = (self.decoder.layout(), self.t);
        let p = layout.n_labels;
        let label = |draft: &Draft, position: usize| match layout.label {
            Label::Op => usize::from(draft.ops()[position]).min(p - 1),
            Label::Position | Label::Canonical => position.min(p - 1),
        };
        let mut features = vec![0.0; drafts.len() * 2 * p];
        for (draft, feature) in drafts.iter().zip(features.chunks_exact_mut(2 * p)) {
            if t < draft.len() {
                feature[label(draft, t)] = 1.0;
                draft.predecessors(t).iter().for_each(|&other| feature[p + label(draft, other)] += 1.0);
            }
        }
        floats(features, [drafts.len(), 2 * p], &self.device)
    }

    fn biases(&self, drafts: &[Draft]) -> Biases {
        let (config, layout, t) = (self.decoder.config(), self.decoder.layout(), self.t);
        let row = |length: usize| {
            let mut bias = vec![f32::NEG_INFINITY; drafts.len() * length];
            for (draft, bias) in drafts.iter().zip(bias.chunks_exact_mut(length)) {
                let allowed = |key: usize| sees(layout.attention, draft, t, key);
                (0..=t).filter(|&key| allowed(key)).for_each(|key| bias[key] = 0.0);
            }
            floats(bias, [drafts.len(), 1, length], &self.device)
        };
        let own = row(t + 1);
        let memory = match (config.masked_memory, config.memory_by_op) {
            (false, _) => None,
            (true, true) => Some(own.clone()),
            (true, false) => Some(row(layout.spec.max_nodes)),
        };
        Biases { own, memory }
    }
}

impl Stepper for Steps<'_> {
    fn ops(&mut self, drafts: &[Draft]) -> Tensor<2> {
        let o = self.advance(drafts);
        let ([b, d], heads) = (o.dims(), self.decoder.heads());
        let (target, source) = heads.edge_halves(o.clone());
        self.edges = self.sources.as_ref().map(|sources| {
            let [_, t, _] = sources.dims();
            let target = target.reshape([b, 1, d]).repeat_dim(1, t).reshape([b * t, d]);
            heads.edge_logits(target, sources.clone().reshape([b * t, d])).reshape([b, t])
        });
        append(&mut self.sources, source);
        heads.node_logits(o)
    }

    fn edges(&mut self) -> Edges<'_> {
        Edges::AtOnce(self.edges.take())
    }
}

/// The vectors o_i of given graphs, step by step. See [`PaceDecoder::replay`].
pub(super) fn replay(
    decoder: &PaceDecoder,
    z: Tensor<2>,
    dags: &[Dag],
    shared: Option<&NodeEmbedding>,
) -> Vec<Tensor<2>> {
    let mut drafts = vec![Draft::new(&decoder.layout().spec); dags.len()];
    let mut steps = Steps::new(decoder, z, shared);
    let longest = dags.iter().map(Dag::n_nodes).max().unwrap_or(0);
    let mut states = Vec::with_capacity(longest + 1);
    for node in 0..=longest {
        states.push(steps.advance(&drafts));
        for (draft, dag) in drafts.iter_mut().zip(dags).filter(|(_, dag)| node < dag.n_nodes()) {
            let sources: Vec<usize> = dag.predecessors(node).map(|source| source + 1).collect();
            draft.push(dag.op(node), &sources);
        }
    }
    states
}

/// Whether position t may attend to `key` at or before it.
fn sees(attention: Attention, draft: &Draft, t: usize, key: usize) -> bool {
    match attention {
        Attention::Masked(rule) => sees_path(rule, draft, t, key),
        // Without a path mask the decoder is causal, see `PaceDecoder::states`.
        Attention::Penalised(_) | Attention::Open => true,
    }
}

fn sees_path(rule: MaskRule, draft: &Draft, t: usize, key: usize) -> bool {
    if key == t { rule.sees_itself() } else { t < draft.len() && draft.is_ancestor(key, t) }
}

impl Layer {
    /// The block on one new row per graph. Shapes: [B, D] -> [B, D].
    fn step(&mut self, x: Tensor<2>, biases: &Biases, settings: &BlockConfig) -> Tensor<2> {
        let ([b, d], n_heads) = (x.dims(), settings.n_heads);
        let (own, read, slots) = (&mut self.own, &self.read, &self.slots);
        let params = &self.params;
        let x = sublayer(x, &params.norm_attention, settings, |x| {
            let qkv = linear(x, &params.attention.wqkv, &params.attention.bqkv);
            let keys_values = append(own, qkv.clone().slice([0..b, d..3 * d]));
            let q = qkv.slice([0..b, 0..d]);
            let heads = kernel::cross_attention(q, keys_values, Some(biases.own.clone()), b, n_heads, Dropout::NONE);
            linear(heads, &params.attention.wo, &params.attention.bo)
        });
        let x = sublayer(x, &params.norm_cross, settings, |x| {
            let q = linear(x, &params.cross.wq, &params.cross.bq);
            let keys_values = read.clone().map_or(slots.clone(), flat);
            let heads = kernel::cross_attention(q, keys_values, biases.memory.clone(), b, n_heads, Dropout::NONE);
            linear(heads, &params.cross.wo, &params.cross.bo)
        });
        sublayer(x, &params.norm_feed_forward, settings, |x| {
            let hidden = relu(linear(x, &params.feed_forward.w1, &params.feed_forward.b1));
            linear(hidden, &params.feed_forward.w2, &params.feed_forward.b2)
        })
    }
}

/// LN(x + f(x)) or x + f(LN(x)).
fn sublayer(
    x: Tensor<2>,
    norm: &NormParams,
    settings: &BlockConfig,
    f: impl FnOnce(Tensor<2>) -> Tensor<2>,
) -> Tensor<2> {
    let add_norm = |residual, x| kernel::add_norm(residual, x, norm.clone(), settings.epsilon, Dropout::NONE);
    match settings.norm {
        NormPlacement::Post => add_norm(x.clone(), f(x)),
        NormPlacement::Pre => x.clone() + f(add_norm(x.zeros_like(), x)),
    }
}

/// Adds a row per graph to a cache and returns the whole, flat. Shapes: [B, t, W] and [B, W] -> [B*(t+1), W].
fn append(cache: &mut Option<Tensor<3>>, row: Tensor<2>) -> Tensor<2> {
    let [b, width] = row.dims();
    let row = row.reshape([b, 1, width]);
    let whole = match cache.take() {
        Some(rows) => Tensor::cat(vec![rows, row], 1),
        None => row,
    };
    *cache = Some(whole.clone());
    flat(whole)
}

fn flat(rows: Tensor<3>) -> Tensor<2> {
    let [b, t, width] = rows.dims();
    rows.reshape([b * t, width])
}

fn linear(x: Tensor<2>, weight: &Tensor<2>, bias: &Tensor<1>) -> Tensor<2> {
    x.matmul(weight.clone()) + bias.clone().unsqueeze()
}
