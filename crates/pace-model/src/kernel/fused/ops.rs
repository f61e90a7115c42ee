//! The fused operations with their gradients, as Burn sees them.

use std::sync::Arc;

use burn::backend::TensorMetadata;
use burn::tensor::Tensor;

use crate::kernel::dropout::Site;
use crate::kernel::fused::attention::lists::SparseShape;
use crate::kernel::fused::autodiff::{Input, Op, Primitive, primitive, run, values};
use crate::kernel::fused::block::stack::{Stack, Tape};
use crate::kernel::fused::block::sublayer::{Frame, Kind, Own, Way};
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::parts::{AttentionShape, Normed, Packed, add_norm, add_norm_grad};
use crate::kernel::fused::some_rows::block::{self as reading, Reading, Sites};
use crate::kernel::fused::some_rows::reads::Reads;
use crate::kernel::pair_lists::Lists;
use crate::kernel::params::{BlockConfig, site};

/// Attention on packed projections; inputs qkv, or q and kv.
#[derive(Clone, Debug)]
pub(crate) struct AttentionOp {
    pub(crate) shape: AttentionShape,
    pub(crate) bias: Option<Primitive>,
}

impl AttentionOp {
    fn packed<'a>(&self, inputs: &'a [Primitive]) -> Packed<'a> {
        Packed { q: values(&inputs[0]), kv: inputs.get(1).map(values) }
    }
}

impl Op for AttentionOp {
    type Kept = Vec<Vec<f32>>;

    fn forward(&self, inputs: &[Primitive], keep: bool) -> (Primitive, Self::Kept) {
        let bias = self.bias.as_ref().map(values);
        let (y, weights) = match self.packed(inputs) {
            Packed { q, kv: Some(kv) } if !keep && self.shape.is_direct() => {
                (self.shape.forward_direct(q, kv, bias), Vec::new())
            }
            packed => self.shape.forward(packed, bias),
        };
        (primitive(y, [self.shape.batch * self.shape.n, self.shape.d]), weights)
    }

    fn backward(&self, inputs: &[Primitive], kept: &Self::Kept, dy: Primitive) -> Vec<Primitive> {
        let bias = self.bias.as_ref().map(values);
        let (dq, dkv) = self.shape.backward(self.packed(inputs), bias, kept, values(&dy));
        let grads = [Some(dq), dkv].into_iter().flatten();
        grads.zip(inputs).map(|(grad, input)| primitive(grad, input.shape())).collect()
    }
}

/// Attention along lists of keys; input qkv.
#[derive(Clone, Debug)]
pub(crate) struct SparseOp {
    pub(crate) lists: Arc<Lists>,
    pub(crate) shape: SparseShape,
}

impl Op for SparseOp {
    type Kept = Vec<Buffer>;

    fn forward(&self, inputs: &[Primitive], _keep: bool) -> (Primitive, Self::Kept) {
        let (y, weights) = self.shape.forward(&self.lists, values(&inputs[0]));
        (primitive(y, [self.lists.n_rows(), self.shape.d]), weights)
    }

    fn backward(&self, inputs: &[Primitive], kept: &Self::Kept, dy: Primitive) -> Vec<Primitive> {
        let dqkv = self.shape.backward(&self.lists, values(&inputs[0]), kept, values(&dy));
        vec![primitive(dqkv, inputs[0].shape())]
    }
}

/// Residual, dropout and layer norm; inputs residual, x, gamma, beta.
#[derive(Clone, Debug)]
pub(crate) struct AddNormOp {
    pub(crate) epsilon: f32,
    pub(crate) site: Site,
}

impl Op for AddNormOp {
    type Kept = Normed;

    fn forward(&self, inputs: &[Primitive], _keep: bool) -> (Primitive, Self::Kept) {
        let [residual, x, gamma, beta] = [0, 1, 2, 3].map(|index| values(&inputs[index]));
        let (y, normed) = add_norm(residual, x, [gamma, beta], self.epsilon, self.site);
        (primitive(y, inputs[0].shape()), normed)
    }

    fn backward(&self, inputs: &[Primitive], kept: &Self::Kept, dy: Primitive) -> Vec<Primitive> {
        let (dsum, dx, [dgamma, dbeta]) = add_norm_grad(values(&dy), kept, values(&inputs[2]), self.site);
        let [residual, _, gamma, beta] = inputs else { unreachable!("add-and-norm has four inputs") };
        let dsum = primitive(dsum, residual.shape());
        let dx = dx.map_or_else(|| dsum.clone(), |dx| primitive(dx, residual.shape()));
        vec![dsum, dx, primitive(dgamma, gamma.shape()), primitive(dbeta, beta.shape())]
    }
}

/// Who attends to whom in the self-attention of a stack.
#[derive(Clone, Debug)]
pub(crate) enum OwnPairs {
    /// An attention bias, [B, N, N].
    Bias(Primitive),
    /// Lists of keys over packed rows.
    Lists(Arc<Lists>),
}

/// A stack of blocks; inputs x, the memory if it has one, then all parameters.
#[derive(Clone, Debug)]
pub(crate) struct StackOp {
    /// The sublayers of one block.
    pub(crate) layer: &'static [Kind],
    /// Number of the first block, which numbers the dropout sites.
    pub(crate) first_layer: usize,
    pub(crate) config: BlockConfig,
    pub(crate) own: OwnPairs,
    /// [B, N, M].
    pub(crate) memory_bias: Option<Primitive>,
}

/// The sublayers of an encoder block.
pub(crate) const ENCODER: &[Kind] = &[Kind::SelfAttention, Kind::FeedForward];

/// The sublayers of a decoder block.
pub(crate) const DECODER: &[Kind] = &[Kind::SelfAttention, Kind::CrossAttention, Kind::FeedForward];

impl StackOp {
    fn has_memory(&self) -> bool {
        self.layer.contains(&Kind::CrossAttention)
    }

    /// The memory and the parameters among the inputs.
    fn split<'a>(&self, inputs: &'a [Primitive]) -> (&'a [f32], Vec<&'a [f32]>) {
        let (memory, params) =
            if self.has_memory() { (values(&inputs[1]), &inputs[2..]) } else { (&[][..], &inputs[1..]) };
        (memory, params.iter().map(values).collect())
    }

    fn stack<'a>(&'a self, inputs: &'a [Primitive], memory: &[f32], params: &[&'a [f32]], way: Way) -> Stack<'a> {
        let d = inputs[0].shape()[1];
        let (batch, n, own) = match &self.own {
            OwnPairs::Bias(bias) => (bias.shape()[0], bias.shape()[1], Own::Bias(values(bias))),
            OwnPairs::Lists(lists) => (lists.n_rows(), 1, Own::Lists(lists)),
        };
        let frame = Frame {
            n,
            m: memory.len() / (batch * d),
            d,
            n_heads: self.config.n_heads,
            epsilon: self.config.epsilon as f32,
            norm: self.config.norm,
            dropout: self.config.dropout,
            own,
            memory_bias: self.memory_bias.as_ref().map(values),
        };
        Stack::new(frame, self.layer, self.first_layer, params, batch, way)
    }

    /// Runs on x, the memory and the parameters; the number of blocks decides the number of inputs, which Burn wants at
    /// compile time.
    pub(crate) fn run(self, inputs: Vec<Input>) -> Tensor<2> {
        match inputs.len() {
            13 => run::<13, _>(self, inputs),
            25 => run::<25, _>(self, inputs),
            37 => run::<37, _>(self, inputs),
            49 => run::<49, _>(self, inputs),
            22 => run::<22, _>(self, inputs),
            42 => run::<42, _>(self, inputs),
            62 => run::<62, _>(self, inputs),
            82 => run::<82, _>(self, inputs),
            count => unreachable!("{count} inputs are not those of 1 to {MAX_LAYERS} blocks"),
        }
    }
}

/// The most blocks one operation takes; longer stacks are several operations.
pub(crate) const MAX_LAYERS: usize = 4;

impl Op for StackOp {
    type Kept = Tape;

    fn forward(&self, inputs: &[Primitive], keep: bool) -> (Primitive, Self::Kept) {
        let (memory, params) = self.split(inputs);
        let (y, tape) = self.stack(inputs, memory, &params, Way::Forward).forward(values(&inputs[0]), memory, keep);
        (primitive(y, inputs[0].shape()), tape)
    }

    fn backward(&self, inputs: &[Primitive], kept: &Self::Kept, dy: Primitive) -> Vec<Primitive> {
        let (memory, params) = self.split(inputs);
        let grads = self.stack(inputs, memory, &params, Way::Backward).backward(kept, memory, values(&dy));
        let memory = self.has_memory().then_some(grads.memory);
        let all = [grads.x].into_iter().chain(memory).chain(grads.params);
        all.zip(inputs).map(|(grad, input)| primitive(grad, input.shape())).collect()
    }
}

/// The last block of a stack at the rows that are read; inputs x, then the parameters of the block.
#[derive(Clone, Debug)]
pub(crate) struct ReadOp {
    pub(crate) reads: Arc<Reads>,
    /// Number of the block.
    pub(crate) layer: usize,
    pub(crate) config: BlockConfig,
}

impl ReadOp {
    fn reading<'a>(&'a self, inputs: &'a [Primitive]) -> Reading<'a> {
        let place = |site: usize| self.config.dropout.site(self.layer * site::SITES_PER_LAYER + site);
        Reading {
            reads: &self.reads,
            d: inputs[0].shape()[1],
            n_heads: self.config.n_heads,
            epsilon: self.config.epsilon as f32,
            sites: Sites {
                weights: place(site::SELF_WEIGHTS),
                attention: place(site::SELF_OUTPUT),
                hidden: place(site::HIDDEN),
                feed_forward: place(site::FEED_FORWARD_OUTPUT),
            },
            params: std::array::from_fn(|param| values(&inputs[param + 1])),
        }
    }
}

impl Op for ReadOp {
    type Kept = reading::Tape;

    fn forward(&self, inputs: &[Primitive], _keep: bool) -> (Primitive, Self::Kept) {
        let (y, tape) = self.reading(inputs).forward(values(&inputs[0]));
        (primitive(y, [self.reads.rows.len(), inputs[0].shape()[1]]), tape)
    }

    fn backward(&self, inputs: &[Primitive], kept: &Self::Kept, dy: Primitive) -> Vec<Primitive> {
        let (dx, grads) = self.reading(inputs).backward(kept, values(&inputs[0]), values(&dy));
        let all = [dx].into_iter().chain(grads);
        all.zip(inputs).map(|(grad, input)| primitive(grad, input.shape())).collect()
    }
}
