//! The block as Burn sees it.

use std::sync::Arc;

use burn::backend::TensorMetadata;
use burn::tensor::Tensor;

use super::{Reads, Sites, SomeRows, Tape};
use crate::kernel::fused::autodiff::{Input, Op, Primitive, gradient, primitive, run, values};
use crate::kernel::fused::block::params::EncoderView;
use crate::kernel::fused::named::Named;
use crate::kernel::params::{BlockConfig, EncoderParams, site};

/// Block number `layer` of a stack, at the rows that are read. Shapes: x [T, D] -> [R, D].
pub(crate) fn last_block(
    x: Tensor<2>,
    reads: Reads,
    params: EncoderParams,
    layer: usize,
    config: &BlockConfig,
) -> Tensor<2> {
    let op = SomeRowsOp { reads: Arc::new(reads), layer, config: *config };
    run::<13, _>(op, SomeRowsInputs { x: Input::new(x), params: EncoderView::new(params) })
}

/// A block at some rows.
#[derive(Clone, Debug)]
struct SomeRowsOp {
    reads: Arc<Reads>,
    /// Number of the block.
    layer: usize,
    config: BlockConfig,
}

/// The inputs of the block.
struct SomeRowsInputs<T> {
    x: T,
    params: EncoderView<T>,
}

impl SomeRowsOp {
    fn block<'a>(&'a self, inputs: &SomeRowsInputs<&'a Primitive>) -> SomeRows<'a> {
        let site = |site: usize| self.config.dropout.site(self.layer * site::SITES_PER_LAYER + site);
        SomeRows {
            reads: &self.reads,
            d: inputs.x.shape()[1],
            n_heads: self.config.n_heads,
            epsilon: self.config.epsilon as f32,
            sites: Sites {
                weights: site(site::SELF_WEIGHTS),
                attention: site(site::SELF_OUTPUT),
                hidden: site(site::HIDDEN),
                feed_forward: site(site::FEED_FORWARD_OUTPUT),
            },
            params: inputs.params.map(values),
        }
    }
}

impl Op for SomeRowsOp {
    type Inputs<T> = SomeRowsInputs<T>;
    type Kept = Tape;

    fn named<T>(&self, list: &mut impl Iterator<Item = T>) -> SomeRowsInputs<T> {
        SomeRowsInputs { x: list.next().expect("x comes first"), params: EncoderView::take(list) }
    }

    fn listed<T>(inputs: SomeRowsInputs<T>) -> Vec<T> {
        [inputs.x].into_iter().chain(inputs.params.list()).collect()
    }

    fn forward(&self, inputs: SomeRowsInputs<&Primitive>, _keep: bool) -> (Primitive, Tape) {
        let block = self.block(&inputs);
        let (y, tape) = block.forward(values(inputs.x));
        (primitive(y, [self.reads.rows.len(), block.d]), tape)
    }

    fn backward(&self, inputs: SomeRowsInputs<&Primitive>, kept: &Tape, dy: &[f32]) -> SomeRowsInputs<Primitive> {
        let (dx, grads) = self.block(&inputs).backward(kept, values(inputs.x), dy);
        SomeRowsInputs { x: gradient(dx), params: grads.map(gradient) }
    }
}
