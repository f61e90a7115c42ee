//! [`StackOp`]: a stack of blocks as Burn sees it, and the two stacks there are: [`encoder`] and [`decoder`].

use std::sync::Arc;

use burn::backend::TensorMetadata;
use burn::tensor::Tensor;

use super::frame::{Frame, Own};
use super::params::{EncoderView, Kind, SublayerView, decoder_sublayers};
use super::stack::{Stack, Tape};
use crate::kernel::fused::autodiff::{Input, Op, Primitive, gradient, primitive, run, values};
use crate::kernel::fused::products::Way;
use crate::kernel::pair_lists::Lists;
use crate::kernel::params::{BlockConfig, DecoderParams, EncoderParams};

/// The most blocks one operation takes; longer stacks are several operations.
const MAX_LAYERS: usize = 4;

/// Who attends to whom in the self-attention of a stack.
#[derive(Clone, Debug)]
pub(crate) enum OwnPairs {
    /// An attention bias, [B, N, N].
    Bias(Primitive),
    /// Lists of keys over packed rows.
    Lists(Arc<Lists>),
}

/// A stack of encoder blocks. Shapes: x and output [B*N, D].
pub(crate) fn encoder(x: Tensor<2>, own: OwnPairs, layers: Vec<EncoderParams>, config: &BlockConfig) -> Tensor<2> {
    const SUBLAYERS: &[Kind] = &[Kind::SelfAttention, Kind::FeedForward];
    let op = StackOp { sublayers: SUBLAYERS, first_layer: 0, config: *config, own, memory_bias: None };
    op.run(x, None, layers.into_iter().map(|params| EncoderView::new(params).sublayers()))
}

/// A stack of decoder blocks. Shapes: x and output [B*N, D]; memory [B*M, D], its bias [B, N, M].
pub(crate) fn decoder(
    x: Tensor<2>,
    memory: Tensor<2>,
    own: OwnPairs,
    memory_bias: Option<Primitive>,
    layers: Vec<DecoderParams>,
    config: &BlockConfig,
) -> Tensor<2> {
    const SUBLAYERS: &[Kind] = &[Kind::SelfAttention, Kind::CrossAttention, Kind::FeedForward];
    let op = StackOp { sublayers: SUBLAYERS, first_layer: 0, config: *config, own, memory_bias };
    op.run(x, Some(memory), layers.into_iter().map(decoder_sublayers))
}

/// A stack of blocks.
#[derive(Clone, Debug)]
pub(super) struct StackOp {
    /// The sublayers of one block.
    sublayers: &'static [Kind],
    /// Number of the first block, which numbers the dropout sites.
    first_layer: usize,
    config: BlockConfig,
    own: OwnPairs,
    /// [B, N, M].
    memory_bias: Option<Primitive>,
}

/// The inputs of a stack.
pub(super) struct StackInputs<T> {
    x: T,
    memory: Option<T>,
    /// The sublayers of every block.
    blocks: Vec<Vec<SublayerView<T>>>,
}

impl StackOp {
    /// Runs the blocks in operations of at most [`MAX_LAYERS`].
    fn run(
        self,
        mut x: Tensor<2>,
        memory: Option<Tensor<2>>,
        mut blocks: impl ExactSizeIterator<Item = Vec<SublayerView<Input>>>,
    ) -> Tensor<2> {
        let mut first_layer = 0;
        while blocks.len() > 0 {
            let blocks: Vec<_> = blocks.by_ref().take(MAX_LAYERS).collect();
            let inputs = StackInputs { x: Input::new(x), memory: memory.clone().map(Input::new), blocks };
            let op = StackOp { first_layer, ..self.clone() };
            // Burn wants the number of inputs at compile time.
            x = match (inputs.blocks.len(), memory.is_some()) {
                (1, false) => run::<13, _>(op, inputs),
                (2, false) => run::<25, _>(op, inputs),
                (3, false) => run::<37, _>(op, inputs),
                (4, false) => run::<49, _>(op, inputs),
                (1, true) => run::<22, _>(op, inputs),
                (2, true) => run::<42, _>(op, inputs),
                (3, true) => run::<62, _>(op, inputs),
                (4, true) => run::<82, _>(op, inputs),
                (count, _) => unreachable!("{count} blocks in one operation"),
            };
            first_layer += MAX_LAYERS;
        }
        x
    }

    /// The stack, ready to run, and the memory.
    fn stack<'a>(&'a self, inputs: StackInputs<&'a Primitive>, way: Way) -> (Stack<'a>, &'a [f32]) {
        let (d, memory) = (inputs.x.shape()[1], inputs.memory.map_or(&[][..], values));
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
        let numbered = |(block, layer): (Vec<SublayerView<&'a Primitive>>, usize)| {
            block.into_iter().map(move |params| (layer, params.map(values)))
        };
        let sublayers = inputs.blocks.into_iter().zip(self.first_layer..).flat_map(numbered).collect();
        (Stack::new(frame, sublayers, batch, way), memory)
    }
}

impl Op for StackOp {
    type Inputs<T> = StackInputs<T>;
    type Kept = Tape;

    fn named<T>(&self, list: &mut impl Iterator<Item = T>) -> StackInputs<T> {
        let mut list = list.peekable();
        let x = list.next().expect("x comes first");
        let memory = self.sublayers.contains(&Kind::CrossAttention).then(|| list.next().expect("then the memory"));
        let mut blocks = Vec::new();
        while list.peek().is_some() {
            blocks.push(self.sublayers.iter().map(|&kind| SublayerView::take(kind, &mut list)).collect());
        }
        StackInputs { x, memory, blocks }
    }

    fn listed<T>(inputs: StackInputs<T>) -> Vec<T> {
        let params = inputs.blocks.into_iter().flatten().flat_map(SublayerView::list);
        [inputs.x].into_iter().chain(inputs.memory).chain(params).collect()
    }

    fn forward(&self, inputs: StackInputs<&Primitive>, keep: bool) -> (Primitive, Tape) {
        let x = inputs.x;
        let (stack, memory) = self.stack(inputs, Way::Forward);
        let (y, tape) = stack.forward(values(x), memory, keep);
        (primitive(y, x.shape()), tape)
    }

    fn backward(&self, inputs: StackInputs<&Primitive>, kept: &Tape, dy: &[f32]) -> StackInputs<Primitive> {
        let has_memory = inputs.memory.is_some();
        let (stack, memory) = self.stack(inputs, Way::Backward);
        let grads = stack.backward(kept, memory, dy);
        let mut sublayers = grads.sublayers.into_iter().map(|grads| grads.map(gradient));
        let mut blocks = Vec::new();
        while sublayers.len() > 0 {
            blocks.push(sublayers.by_ref().take(self.sublayers.len()).collect());
        }
        StackInputs { x: gradient(grads.x), memory: has_memory.then(|| gradient(grads.memory)), blocks }
    }
}
