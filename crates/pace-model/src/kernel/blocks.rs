//! The public operations: check the shapes, then take the fused path where it serves and the plain twin elsewhere.

#[cfg(feature = "flex")]
use burn::backend::Flex;
use burn::tensor::Tensor;

use super::dropout::Dropout;
#[cfg(feature = "flex")]
use super::fused::{
    attention::lists::SparseShape,
    autodiff::{self, Input, Primitive},
    inference::packed,
    ops::{AddNormOp, AttentionOp, DECODER, ENCODER, MAX_LAYERS, OwnPairs, SparseOp, StackOp},
    parts::AttentionShape,
};
use super::pair_lists::PairLists;
#[cfg(feature = "flex")]
use super::params::site;
use super::params::{
    BlockConfig, CrossAttentionParams, DecoderParams, EncoderParams, FeedForwardParams, NormParams, SelfAttentionParams,
};
use super::{Masks, plain};

/// Whether operations on activations like `x` take the fused path: f32 on a `flex` device, with or without autodiff.
pub fn is_fused(x: &Tensor<2>) -> bool {
    #[cfg(feature = "flex")]
    return autodiff::serves(x);
    #[cfg(not(feature = "flex"))]
    {
        let _ = x;
        false
    }
}

/// Multi-head self-attention on a packed projection.
///
/// softmax(Q K^T / sqrt(D/H) + bias) V for every head, dropout on the weights.
///
/// # Shapes
///
/// - qkv: [B*N, 3D], queries, keys, values side by side, each head after head
/// - bias: [B, N, N], see [the module](super) for masks; a constant unless it carries a graph
/// - output: [B*N, D]
///
/// # Panics
///
/// If the shapes do not fit together, with all of them in the message.
pub fn attention(qkv: Tensor<2>, bias: Option<Tensor<3>>, batch: usize, n_heads: usize, dropout: Dropout) -> Tensor<2> {
    let [rows, width] = qkv.dims();
    check_heads(width / 3, n_heads);
    assert!(width.is_multiple_of(3), "packed projection of width {width} is not queries, keys and values");
    let n = per_graph(rows, batch);
    check_bias(bias.as_ref(), [batch, n, n]);
    #[cfg(feature = "flex")]
    if autodiff::serves(&qkv) && !needs_grad(bias.as_ref()) {
        let site = dropout.site(site::SELF_WEIGHTS);
        let shape = AttentionShape { batch, n, m: n, d: width / 3, n_heads, site };
        let op = AttentionOp { shape, bias: bias.map(Input::constant) };
        return autodiff::run::<1, _>(op, vec![Input::new(qkv)]);
    }
    plain::attention(qkv, bias, batch, n_heads, dropout)
}

/// Multi-head attention from a sequence to a memory; the formula of [`attention`].
///
/// # Shapes
///
/// - q: [B*N, D]; kv: [B*M, 2D], keys and values side by side; bias: [B, N, M]
/// - output: [B*N, D]
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn cross_attention(
    q: Tensor<2>,
    kv: Tensor<2>,
    bias: Option<Tensor<3>>,
    batch: usize,
    n_heads: usize,
    dropout: Dropout,
) -> Tensor<2> {
    let [rows, d] = q.dims();
    let [key_rows, width] = kv.dims();
    check_heads(d, n_heads);
    assert!(width == 2 * d, "keys and values of width {width} do not fit queries of width {d}: twice that is needed");
    let (n, m) = (per_graph(rows, batch), per_graph(key_rows, batch));
    check_bias(bias.as_ref(), [batch, n, m]);
    #[cfg(feature = "flex")]
    if autodiff::serves(&q) && !needs_grad(bias.as_ref()) {
        let shape = AttentionShape { batch, n, m, d, n_heads, site: dropout.site(site::CROSS_WEIGHTS) };
        let op = AttentionOp { shape, bias: bias.map(Input::constant) };
        return autodiff::run::<2, _>(op, vec![Input::new(q), Input::new(kv)]);
    }
    plain::cross_attention(q, kv, bias, batch, n_heads, dropout)
}

/// Multi-head self-attention of T rows on a packed projection, each over its own list of keys.
///
/// softmax over k in lists(q) of (Q_q K_k / sqrt(D/H)), times V, for every head, dropout on the weights. The same as
/// [`attention`] under a mask that allows exactly those pairs, at a cost in proportion to their number.
///
/// # Shapes
///
/// - qkv: [T, 3D], queries, keys, values side by side, each head after head
/// - output: [T, D]; zeros for a row without keys
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn sparse_attention(qkv: Tensor<2>, lists: &PairLists, n_heads: usize, dropout: Dropout) -> Tensor<2> {
    let [rows, width] = qkv.dims();
    assert!(rows == lists.n_rows(), "{rows} rows, and lists for {}", lists.n_rows());
    check_heads(width / 3, n_heads);
    assert!(width.is_multiple_of(3), "packed projection of width {width} is not queries, keys and values");
    #[cfg(feature = "flex")]
    if autodiff::serves(&qkv) {
        let shape = SparseShape { d: width / 3, n_heads, site: dropout.site(site::SELF_WEIGHTS) };
        return autodiff::run::<1, _>(SparseOp { lists: lists.host().clone(), shape }, vec![Input::new(qkv)]);
    }
    plain::sparse_attention(qkv, lists, n_heads, dropout)
}

/// The end of a post-norm sublayer: LN(residual + Drop(x)), LN(s) = (s - mean) / sqrt(var + epsilon) * gamma + beta.
///
/// # Shapes
///
/// - residual, x, output: [rows, D]; gamma, beta: `[D]`
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn add_norm(residual: Tensor<2>, x: Tensor<2>, norm: NormParams, epsilon: f64, dropout: Dropout) -> Tensor<2> {
    let [_, d] = x.dims();
    assert_eq!(residual.dims(), x.dims(), "residual and x differ in shape");
    assert!(norm.gamma.dims() == [d] && norm.beta.dims() == [d], "norm of width {:?}, not {d}", norm.gamma.dims());
    #[cfg(feature = "flex")]
    if autodiff::serves(&x) {
        let op = AddNormOp { epsilon: epsilon as f32, site: dropout.site(site::SELF_OUTPUT) };
        let inputs = vec![Input::new(residual), Input::new(x), Input::new(norm.gamma), Input::new(norm.beta)];
        return autodiff::run::<4, _>(op, inputs);
    }
    plain::add_norm(residual, x, norm, epsilon, dropout)
}

/// One encoder block: masked self-attention and feed-forward (ReLU), each with residual, dropout and layer norm.
///
/// Post-norm: x <- LN(x + Drop(MHA(x))); x <- LN(x + Drop(FF(x))). Pre-norm: x <- x + Drop(MHA(LN(x))); likewise FF.
///
/// # Shapes
///
/// - x, output: [B*N, D]; bias: [B, N, N], which gives B and N
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn encoder_layer(x: Tensor<2>, bias: Tensor<3>, params: EncoderParams, config: &BlockConfig) -> Tensor<2> {
    encoder(x, bias, vec![params], config)
}

/// A stack of encoder blocks, see [`encoder_layer`], as one operation; faster than one call per block.
///
/// Blocks after the first draw other dropout masks from the same seed. No blocks: x itself.
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn encoder(x: Tensor<2>, bias: Tensor<3>, layers: Vec<EncoderParams>, config: &BlockConfig) -> Tensor<2> {
    let [batch, n, _] = bias.dims();
    let d = check_rows(&x, batch, n, config);
    check_bias(Some(&bias), [batch, n, n]);
    check_encoder(&layers, d);
    #[cfg(feature = "flex")]
    if autodiff::serves(&x) && !needs_grad(Some(&bias)) {
        return encoder_stack(OwnPairs::Bias(Input::constant(bias)), x, layers, config);
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
    let d = check_rows(&x, lists.n_rows(), 1, config);
    check_encoder(&layers, d);
    #[cfg(feature = "flex")]
    if autodiff::serves(&x) && !x.is_autodiff() && packed::serves(config) && !layers.is_empty() {
        let (rows, inputs) = (lists.n_rows(), constants(x, layers));
        let (x, params) = inputs.split_first().expect("x comes first");
        let params: Vec<&[f32]> = params.iter().map(autodiff::values).collect();
        let y = packed::encode(autodiff::values(x), d, lists.host(), &params, config);
        return Tensor::from_primitive::<Flex>(autodiff::primitive(y, [rows, d]));
    }
    #[cfg(feature = "flex")]
    if autodiff::serves(&x) {
        return encoder_stack(OwnPairs::Lists(lists.host().clone()), x, layers, config);
    }
    plain::sparse_encoder(x, lists, layers, config)
}

#[cfg(feature = "flex")]
fn encoder_stack(own: OwnPairs, x: Tensor<2>, layers: Vec<EncoderParams>, config: &BlockConfig) -> Tensor<2> {
    let op = StackOp { layer: ENCODER, first_layer: 0, config: *config, own, memory_bias: None };
    in_stacks(op, x, None, layers, push_encoder)
}

/// x and the parameters of all blocks, in order, for inference.
#[cfg(feature = "flex")]
pub(super) fn constants(x: Tensor<2>, layers: Vec<EncoderParams>) -> Vec<Primitive> {
    let mut inputs = vec![Input::new(x)];
    layers.into_iter().for_each(|layer| push_encoder(layer, &mut inputs));
    inputs.into_iter().map(|input| input.values).collect()
}

#[cfg(feature = "flex")]
pub(super) fn push_encoder(params: EncoderParams, inputs: &mut Vec<Input>) {
    push_self(params.attention, params.norm_attention, inputs);
    push_feed_forward(params.feed_forward, params.norm_feed_forward, inputs);
}

/// One decoder block: masked self-attention, masked attention to the memory, and feed-forward, each as in [`encoder_layer`].
///
/// # Shapes
///
/// - x, output: [B*N, D]; memory: [B*M, D]; masks: [B, N, N] and [B, N, M]
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn decoder_layer(
    x: Tensor<2>,
    memory: Tensor<2>,
    masks: Masks,
    params: DecoderParams,
    config: &BlockConfig,
) -> Tensor<2> {
    decoder(x, memory, masks, vec![params], config)
}

/// A stack of decoder blocks on one memory, see [`decoder_layer`], as one operation.
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
    let d = check_rows(&x, batch, n, config);
    let [memory_rows, memory_d] = memory.dims();
    assert!(memory_d == d, "memory of width {memory_d}, not {d}");
    check_bias(Some(&masks.own), [batch, n, n]);
    check_bias(masks.memory.as_ref(), [batch, n, per_graph(memory_rows, batch)]);
    for params in &layers {
        check_self(&params.attention, d);
        check_cross(&params.cross, d);
        check_feed_forward(&params.feed_forward, d);
        check_norms([&params.norm_attention, &params.norm_feed_forward], d);
        check_norms([&params.norm_cross, &params.norm_cross], d);
    }
    #[cfg(feature = "flex")]
    if autodiff::serves(&x) && !needs_grad(Some(&masks.own)) && !needs_grad(masks.memory.as_ref()) {
        let (own, memory_bias) = (OwnPairs::Bias(Input::constant(masks.own)), masks.memory.map(Input::constant));
        let op = StackOp { layer: DECODER, first_layer: 0, config: *config, own, memory_bias };
        return in_stacks(op, x, Some(memory), layers, |params, inputs| {
            push_self(params.attention, params.norm_attention, inputs);
            push_cross(params.cross, params.norm_cross, inputs);
            push_feed_forward(params.feed_forward, params.norm_feed_forward, inputs);
        });
    }
    plain::decoder(x, memory, masks, layers, config)
}

/// Runs the layers in operations of at most [`MAX_LAYERS`].
#[cfg(feature = "flex")]
fn in_stacks<P>(
    op: StackOp,
    mut x: Tensor<2>,
    memory: Option<Tensor<2>>,
    layers: Vec<P>,
    push: impl Fn(P, &mut Vec<Input>),
) -> Tensor<2> {
    let mut layers = layers.into_iter().peekable();
    let mut first_layer = 0;
    while layers.peek().is_some() {
        let mut inputs = vec![Input::new(x)];
        inputs.extend(memory.clone().map(Input::new));
        layers.by_ref().take(MAX_LAYERS).for_each(|params| push(params, &mut inputs));
        x = StackOp { first_layer, ..op.clone() }.run(inputs);
        first_layer += MAX_LAYERS;
    }
    x
}

#[cfg(feature = "flex")]
fn push_norm(norm: NormParams, inputs: &mut Vec<Input>) {
    inputs.extend([Input::new(norm.gamma), Input::new(norm.beta)]);
}

#[cfg(feature = "flex")]
fn push_self(p: SelfAttentionParams, norm: NormParams, inputs: &mut Vec<Input>) {
    inputs.extend([Input::new(p.wqkv), Input::new(p.bqkv), Input::new(p.wo), Input::new(p.bo)]);
    push_norm(norm, inputs);
}

#[cfg(feature = "flex")]
fn push_cross(p: CrossAttentionParams, norm: NormParams, inputs: &mut Vec<Input>) {
    inputs.extend([Input::new(p.wq), Input::new(p.bq), Input::new(p.wkv), Input::new(p.bkv)]);
    inputs.extend([Input::new(p.wo), Input::new(p.bo)]);
    push_norm(norm, inputs);
}

#[cfg(feature = "flex")]
fn push_feed_forward(p: FeedForwardParams, norm: NormParams, inputs: &mut Vec<Input>) {
    inputs.extend([Input::new(p.w1), Input::new(p.b1), Input::new(p.w2), Input::new(p.b2)]);
    push_norm(norm, inputs);
}

/// Whether a bias is part of a graph: the fused path treats biases as constants and would lose its gradient.
#[cfg(feature = "flex")]
pub(super) fn needs_grad(bias: Option<&Tensor<3>>) -> bool {
    bias.is_some_and(Tensor::is_tracked)
}

fn per_graph(rows: usize, batch: usize) -> usize {
    assert!(
        batch > 0 && rows.is_multiple_of(batch),
        "{rows} rows are not a whole number per graph of a batch of {batch}"
    );
    rows / batch
}

fn check_heads(d: usize, n_heads: usize) {
    assert!(n_heads > 0 && d.is_multiple_of(n_heads), "width {d} is not a multiple of {n_heads} heads");
}

fn check_bias(bias: Option<&Tensor<3>>, shape: [usize; 3]) {
    if let Some(bias) = bias {
        assert_eq!(bias.dims(), shape, "attention bias of another shape than [batch, queries, keys]");
    }
}

/// Checks x [B*N, D] and returns D.
fn check_rows(x: &Tensor<2>, batch: usize, n: usize, config: &BlockConfig) -> usize {
    let [rows, d] = x.dims();
    assert!(rows == batch * n && rows > 0, "x of {rows} rows for a bias of {batch} graphs of {n} nodes");
    check_heads(d, config.n_heads);
    d
}

fn check_map(weight: &Tensor<2>, bias: &Tensor<1>, shape: [usize; 2], name: &str) {
    let found = (weight.dims(), bias.dims());
    assert!(found == (shape, [shape[1]]), "{name} has weight and bias {found:?}, not {shape:?} and [{}]", shape[1]);
}

fn check_self(p: &SelfAttentionParams, d: usize) {
    check_map(&p.wqkv, &p.bqkv, [d, 3 * d], "wqkv");
    check_map(&p.wo, &p.bo, [d, d], "wo");
}

pub(super) fn check_encoder(layers: &[EncoderParams], d: usize) {
    for params in layers {
        check_self(&params.attention, d);
        check_feed_forward(&params.feed_forward, d);
        check_norms([&params.norm_attention, &params.norm_feed_forward], d);
    }
}

fn check_cross(p: &CrossAttentionParams, d: usize) {
    check_map(&p.wq, &p.bq, [d, d], "wq");
    check_map(&p.wkv, &p.bkv, [d, 2 * d], "wkv");
    check_map(&p.wo, &p.bo, [d, d], "wo");
}

fn check_feed_forward(p: &FeedForwardParams, d: usize) {
    let [_, width] = p.w1.dims();
    check_map(&p.w1, &p.b1, [d, width], "w1");
    check_map(&p.w2, &p.b2, [width, d], "w2");
}

fn check_norms(norms: [&NormParams; 2], d: usize) {
    for norm in norms {
        assert!(norm.gamma.dims() == [d] && norm.beta.dims() == [d], "norm of width {:?}, not {d}", norm.gamma.dims());
    }
}
