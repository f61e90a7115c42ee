//! Stacks of Transformer blocks. Each checks the shapes, then takes the fused path if that serves, else the plain twin.

#[cfg(feature = "flex")]
use burn::backend::Flex;
use burn::tensor::Tensor;

#[cfg(feature = "flex")]
use super::fused::{
    autodiff::{self, Input, Primitive, values},
    block::{self, OwnPairs, params::EncoderView},
    inference,
    named::Named,
};
use super::pair_lists::PairLists;
use super::params::{BlockConfig, DecoderParams, EncoderParams};
use super::{Masks, check, plain};

/// A stack of encoder blocks: masked self-attention and feed-forward (ReLU), each with residual, dropout and layer norm.
///
/// Post-norm: x <- LN(x + Drop(MHA(x))); x <- LN(x + Drop(FF(x))). Pre-norm: x <- x + Drop(MHA(LN(x))); likewise FF. One call is
/// faster than one per block. Blocks after the first draw other dropout masks from the same seed. No blocks: x itself.
///
/// # Shapes
///
/// - x, output: [B*N, D]; bias: [B, N, N], which gives B and N
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn encoder(x: Tensor<2>, bias: Tensor<3>, layers: Vec<EncoderParams>, config: &BlockConfig) -> Tensor<2> {
    let [batch, n, _] = bias.dims();
    let d = check::rows(&x, batch, n, config);
    check::bias(Some(&bias), [batch, n, n]);
    check::encoder(&layers, d);
    #[cfg(feature = "flex")]
    if autodiff::serves(&x) && !check::needs_grad(Some(&bias)) {
        return block::encoder(x, OwnPairs::Bias(Input::constant(bias)), layers, config);
    }
    plain::encoder(x, bias, layers, config)
}

/// [`encoder`] on packed rows: T nodes of graphs of any size, without padding, attending along lists.
///
/// # Shapes
///
/// - x, output: [T, D], the rows of `lists`
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn sparse_encoder(x: Tensor<2>, lists: &PairLists, layers: Vec<EncoderParams>, config: &BlockConfig) -> Tensor<2> {
    let d = check::rows(&x, lists.n_rows(), 1, config);
    check::encoder(&layers, d);
    #[cfg(feature = "flex")]
    if autodiff::serves(&x) && !x.is_autodiff() && inference::serves(config) && !layers.is_empty() {
        let (x, layers) = (Input::constant(x), constants(layers));
        let y = inference::packed_encoder(values(&x), d, lists.host(), views(&layers), config);
        return Tensor::from_primitive::<Flex>(autodiff::primitive(y, [lists.n_rows(), d]));
    }
    #[cfg(feature = "flex")]
    if autodiff::serves(&x) {
        return block::encoder(x, OwnPairs::Lists(lists.host().clone()), layers, config);
    }
    plain::sparse_encoder(x, lists, layers, config)
}

/// The parameters of all blocks without their graph, for inference.
#[cfg(feature = "flex")]
pub(super) fn constants(layers: Vec<EncoderParams>) -> Vec<EncoderView<Primitive>> {
    layers.into_iter().map(|params| EncoderView::new(params).map(|input| input.values)).collect()
}

/// The values of the parameters of all blocks.
#[cfg(feature = "flex")]
pub(super) fn views(layers: &[EncoderView<Primitive>]) -> Vec<EncoderView<&[f32]>> {
    layers.iter().map(|params| params.each_ref().map(values)).collect()
}

/// A stack of decoder blocks on one memory: masked self-attention, masked attention to the memory, and feed-forward, each as in
/// [`encoder`].
///
/// # Shapes
///
/// - x, output: [B*N, D]; memory: [B*M, D]; masks: [B, N, N] and [B, N, M]
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn decoder(
    x: Tensor<2>,
    memory: Tensor<2>,
    masks: Masks,
    layers: Vec<DecoderParams>,
    config: &BlockConfig,
) -> Tensor<2> {
    let [batch, n, _] = masks.own.dims();
    let d = check::rows(&x, batch, n, config);
    let [memory_rows, memory_d] = memory.dims();
    assert!(memory_d == d, "memory of width {memory_d}, not {d}");
    check::bias(Some(&masks.own), [batch, n, n]);
    check::bias(masks.memory.as_ref(), [batch, n, check::per_graph(memory_rows, batch)]);
    check::decoder(&layers, d);
    #[cfg(feature = "flex")]
    if autodiff::serves(&x) && !check::needs_grad(Some(&masks.own)) && !check::needs_grad(masks.memory.as_ref()) {
        let (own, memory_bias) = (OwnPairs::Bias(Input::constant(masks.own)), masks.memory.map(Input::constant));
        return block::decoder(x, memory, own, memory_bias, layers, config);
    }
    plain::decoder(x, memory, masks, layers, config)
}
