//! The plain twins: every kernel again in stock Burn operations, with the same dropout masks.
//!
//! They serve each device the fused path does not (ndarray, vulkan, cuda), dtypes other than f32 and attention biases that
//! need a gradient; and they are what the tests hold the fused path against.

use burn::tensor::activation::{log_softmax, relu};
use burn::tensor::{Int, Tensor};

use crate::batch::{floats, ints};
use crate::kernel::adam::AdamStep;
use crate::kernel::dropout::{Dropout, Site};
use crate::kernel::embedding::{self, EmbeddingParams};
use crate::kernel::likelihood::{HeadParams, Truth};
use crate::kernel::pair_lists::PairLists;
use crate::kernel::params::{
    BlockConfig, CrossAttentionParams, DecoderParams, EncoderParams, FeedForwardParams, NormParams, NormPlacement,
    SelfAttentionParams, site,
};
use crate::kernel::pasts::Pasts;
use crate::kernel::shared_pasts::by_pasts;
use crate::kernel::{MASKED, Masks, PENALISED};

/// Twin of [`attention`](crate::kernel::attention).
pub fn attention(qkv: Tensor<2>, bias: Option<Tensor<3>>, batch: usize, n_heads: usize, dropout: Dropout) -> Tensor<2> {
    attend_packed(qkv, bias, batch, n_heads, dropout.site(site::SELF_WEIGHTS))
}

/// Twin of [`cross_attention`](crate::kernel::cross_attention).
pub fn cross_attention(
    q: Tensor<2>,
    kv: Tensor<2>,
    bias: Option<Tensor<3>>,
    batch: usize,
    n_heads: usize,
    dropout: Dropout,
) -> Tensor<2> {
    let [keys, values] = split_columns(kv);
    attend(q, keys, values, for_all_heads(bias), batch, n_heads, dropout.site(site::CROSS_WEIGHTS))
}

/// Twin of [`sparse_attention`](crate::kernel::sparse_attention).
pub fn sparse_attention(qkv: Tensor<2>, lists: &PairLists, n_heads: usize, dropout: Dropout) -> Tensor<2> {
    attend_lists(qkv, lists, n_heads, dropout.site(site::SELF_WEIGHTS))
}

/// Twin of [`add_norm`](crate::kernel::add_norm).
pub fn add_norm(residual: Tensor<2>, x: Tensor<2>, norm: NormParams, epsilon: f64, dropout: Dropout) -> Tensor<2> {
    layer_norm(residual + drop(x, dropout.site(site::SELF_OUTPUT)), &norm, epsilon)
}

/// Twin of [`node_embedding`](crate::kernel::node_embedding).
pub fn node_embedding(
    tokens: Tensor<1, Int>,
    features: Tensor<2>,
    params: EmbeddingParams,
    sum: bool,
    dropout: Dropout,
) -> Tensor<2> {
    let op = relu(params.weight.select(0, tokens) + params.bias.unsqueeze());
    let hidden = drop(relu(features.matmul(params.first)), dropout.site(embedding::site::HIDDEN));
    let position = drop(hidden.matmul(params.second), dropout.site(embedding::site::POSITION));
    if sum { op + position } else { Tensor::cat(vec![op, position], 1) }
}

/// Twin of [`graph_nll`](crate::kernel::graph_nll).
pub fn graph_nll(o: Tensor<2>, truth: Truth<'_>, params: HeadParams) -> Tensor<1> {
    let ([b, n, _], [_, d], device) = (truth.edges.dims(), o.dims(), o.device());
    // The last position speaks for nobody.
    let o = o.reshape([b, n, d]).slice([0..b, 0..n - 1]).reshape([b * (n - 1), d]);
    let (mut next, mut real) = (Vec::new(), Vec::new());
    for (tokens, &length) in truth.tokens.chunks_exact(n).zip(truth.lengths) {
        next.extend(tokens[1..].iter().map(|&token| i32::from(token)));
        real.extend((1..n).map(|node| if node < length { 1.0 } else { 0.0 }));
    }
    let hidden = relu(add_bias(o.clone().matmul(params.w1), params.b1));
    let logits = add_bias(hidden.matmul(params.w2), params.b2);
    let log_p = log_softmax(logits, 1).gather(1, ints(next, [b * (n - 1), 1], &device)).reshape([b, n - 1]);
    let node_nll = (log_p * floats(real, [b, n - 1], &device)).sum_dim(1).neg().reshape([b]);

    // Every pair (j, i), j < i, of positions 0..n - 1, graph after graph; real where both nodes exist.
    let (mut target, mut source, mut edge, mut real) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (graph, &length) in truth.lengths.iter().enumerate() {
        for (i, j) in (1..n - 1).flat_map(|i| (0..i).map(move |j| (i, j))) {
            target.push((graph * (n - 1) + i) as i32);
            source.push((graph * (n - 1) + j) as i32);
            edge.push(((graph * n + i + 1) * n + j + 1) as i32);
            real.push(if i + 1 < length { 1.0 } else { 0.0 });
        }
    }
    let total = target.len();
    if total == 0 {
        return node_nll;
    }
    let picked = |half: Tensor<2>, rows| half.select(0, ints(rows, [total], &device));
    let targets = picked(add_bias(o.clone().matmul(params.target), Some(params.bias)), target);
    let pairs = relu(targets + picked(o.matmul(params.source), source));
    let logits = add_bias(pairs.matmul(params.out), Some(params.out_bias)).reshape([total]);
    let labels = truth.edges.clone().reshape([b * n * n]).select(0, ints(edge, [total], &device));
    let edge_nll = binary_cross_entropy(logits, labels) * floats(real, [total], &device);
    node_nll + edge_nll.reshape([b, total / b]).sum_dim(1).reshape([b])
}

fn add_bias(x: Tensor<2>, bias: Option<Tensor<1>>) -> Tensor<2> {
    match bias {
        Some(bias) => x + bias.unsqueeze(),
        None => x,
    }
}

/// -y log s(x) - (1 - y) log(1 - s(x)), without overflow: max(x, 0) - x y + log(1 + exp(-|x|)).
fn binary_cross_entropy(logits: Tensor<1>, labels: Tensor<1>) -> Tensor<1> {
    let soft = (logits.clone().abs().neg().exp() + 1.0).log();
    relu(logits.clone()) - logits * labels + soft
}

/// Twin of [`encoder`](crate::kernel::encoder).
pub fn encoder(x: Tensor<2>, bias: Tensor<3>, layers: Vec<EncoderParams>, config: &BlockConfig) -> Tensor<2> {
    encoder_per_head(x, bias.unsqueeze_dim(1), layers, config)
}

/// [`encoder`] with an attention bias per head, [B, H, N, N] (or one for all, [B, 1, N, N]), through which gradients pass.
pub fn encoder_per_head(
    mut x: Tensor<2>,
    bias: Tensor<4>,
    layers: Vec<EncoderParams>,
    config: &BlockConfig,
) -> Tensor<2> {
    for (layer, params) in layers.into_iter().enumerate() {
        let sites = Sites { config, layer };
        x = sites.sublayer(x, &params.norm_attention, site::SELF_OUTPUT, |x| {
            self_attention(x, bias.clone(), params.attention, sites)
        });
        x = sites.sublayer(x, &params.norm_feed_forward, site::FEED_FORWARD_OUTPUT, |x| {
            feed_forward(x, params.feed_forward, sites)
        });
    }
    x
}

/// Twin of [`sparse_encoder`](crate::kernel::sparse_encoder).
pub fn sparse_encoder(
    mut x: Tensor<2>,
    lists: &PairLists,
    layers: Vec<EncoderParams>,
    config: &BlockConfig,
) -> Tensor<2> {
    for (layer, params) in layers.into_iter().enumerate() {
        let sites = Sites { config, layer };
        let SelfAttentionParams { wqkv, bqkv, wo, bo } = params.attention;
        x = sites.sublayer(x, &params.norm_attention, site::SELF_OUTPUT, |x| {
            let qkv = linear(x, wqkv, bqkv);
            linear(attend_lists(qkv, lists, config.n_heads, sites.site(site::SELF_WEIGHTS)), wo, bo)
        });
        x = sites.sublayer(x, &params.norm_feed_forward, site::FEED_FORWARD_OUTPUT, |x| {
            feed_forward(x, params.feed_forward, sites)
        });
    }
    x
}

/// Twin of [`shared_encoder`](crate::kernel::shared_encoder).
pub fn shared_encoder(x: Tensor<2>, pasts: &Pasts, layers: Vec<EncoderParams>, config: &BlockConfig) -> Tensor<2> {
    by_pasts(x, pasts, |x, lists| sparse_encoder(x, lists, layers, config))
}

/// Twin of [`concat_linear`](crate::kernel::concat_linear).
pub fn concat_linear(y: Tensor<2>, pasts: &Pasts, weight: Tensor<2>, bias: Tensor<1>) -> Tensor<2> {
    let [height, _] = weight.dims();
    linear(pasts.expand(y, None).reshape([pasts.n_rows() / pasts.n(), height]), weight, bias)
}

/// Twin of [`decoder`](crate::kernel::decoder).
pub fn decoder(
    mut x: Tensor<2>,
    memory: Tensor<2>,
    masks: Masks,
    layers: Vec<DecoderParams>,
    config: &BlockConfig,
) -> Tensor<2> {
    for (layer, params) in layers.into_iter().enumerate() {
        let sites = Sites { config, layer };
        x = sites.sublayer(x, &params.norm_attention, site::SELF_OUTPUT, |x| {
            self_attention(x, masks.own.clone().unsqueeze_dim(1), params.attention, sites)
        });
        x = sites.sublayer(x, &params.norm_cross, site::CROSS_OUTPUT, |x| {
            memory_attention(x, memory.clone(), &masks, params.cross, sites)
        });
        x = sites.sublayer(x, &params.norm_feed_forward, site::FEED_FORWARD_OUTPUT, |x| {
            feed_forward(x, params.feed_forward, sites)
        });
    }
    x
}

/// The settings of one block and its place in the stack, which numbers its dropout sites.
#[derive(Clone, Copy)]
struct Sites<'a> {
    config: &'a BlockConfig,
    layer: usize,
}

impl Sites<'_> {
    fn site(&self, site: usize) -> Site {
        self.config.dropout.site(self.layer * site::SITES_PER_LAYER + site)
    }

    /// LN(x + Drop(f(x))) or x + Drop(f(LN(x))).
    fn sublayer(
        &self,
        x: Tensor<2>,
        norm: &NormParams,
        site: usize,
        f: impl FnOnce(Tensor<2>) -> Tensor<2>,
    ) -> Tensor<2> {
        match self.config.norm {
            NormPlacement::Post => {
                let y = drop(f(x.clone()), self.site(site));
                layer_norm(x + y, norm, self.config.epsilon)
            }
            NormPlacement::Pre => {
                let y = f(layer_norm(x.clone(), norm, self.config.epsilon));
                x + drop(y, self.site(site))
            }
        }
    }
}

fn self_attention(x: Tensor<2>, bias: Tensor<4>, params: SelfAttentionParams, sites: Sites<'_>) -> Tensor<2> {
    let [batch, ..] = bias.dims();
    let [q, keys, values] = split_columns(linear(x, params.wqkv, params.bqkv));
    let site = sites.site(site::SELF_WEIGHTS);
    let heads = attend(q, keys, values, Some(bias), batch, sites.config.n_heads, site);
    linear(heads, params.wo, params.bo)
}

fn memory_attention(
    x: Tensor<2>,
    memory: Tensor<2>,
    masks: &Masks,
    params: CrossAttentionParams,
    sites: Sites<'_>,
) -> Tensor<2> {
    let [batch, _, _] = masks.own.dims();
    let q = linear(x, params.wq, params.bq);
    let [keys, values] = split_columns(linear(memory, params.wkv, params.bkv));
    let site = sites.site(site::CROSS_WEIGHTS);
    let heads = attend(q, keys, values, for_all_heads(masks.memory.clone()), batch, sites.config.n_heads, site);
    linear(heads, params.wo, params.bo)
}

fn feed_forward(x: Tensor<2>, params: FeedForwardParams, sites: Sites<'_>) -> Tensor<2> {
    let hidden = drop(relu(linear(x, params.w1, params.b1)), sites.site(site::HIDDEN));
    linear(hidden, params.w2, params.b2)
}

fn attend_packed(qkv: Tensor<2>, bias: Option<Tensor<3>>, batch: usize, n_heads: usize, site: Site) -> Tensor<2> {
    let [q, keys, values] = split_columns(qkv);
    attend(q, keys, values, for_all_heads(bias), batch, n_heads, site)
}

/// [B, N, M] -> [B, 1, N, M].
fn for_all_heads(bias: Option<Tensor<3>>) -> Option<Tensor<4>> {
    bias.map(|bias| bias.unsqueeze_dim(1))
}

/// softmax(Q K^T / sqrt(D/H) + bias) V for every head, with exact zeros where masked.
fn attend(
    q: Tensor<2>,
    keys: Tensor<2>,
    values: Tensor<2>,
    bias: Option<Tensor<4>>,
    batch: usize,
    n_heads: usize,
    site: Site,
) -> Tensor<2> {
    let [rows, d_model] = q.dims();
    let [key_rows, _] = keys.dims();
    let d_head = d_model / n_heads;
    let (n, m) = (rows / batch, key_rows / batch);
    let device = q.device();
    let split = |t: Tensor<2>, n| t.reshape([batch, n, n_heads, d_head]).swap_dims(1, 2); // [B, H, N, D/H]
    let (q, keys, values) = (split(q, n), split(keys, m), split(values, m));
    let mut scores = q.matmul(keys.transpose()) * (1.0 / (d_head as f64).sqrt()); // [B, H, N, M]
    let allowed = bias.map(|bias| {
        let allowed = bias.clone().greater_elem(MASKED);
        let open = bias.clone().greater_elem(PENALISED).float();
        scores = scores.clone() * open + bias.clamp_min(MASKED);
        allowed.float()
    });
    let top = scores.clone().detach().max_dim(3);
    let mut weights = (scores - top).exp();
    if let Some(allowed) = allowed {
        weights = weights * allowed;
    }
    let total = weights.clone().sum_dim(3);
    // A row with nothing allowed has total 0: dividing by 1 there leaves its weights, and so its output, at 0.
    let empty = total.clone().detach().equal_elem(0.0).float();
    let mut weights = weights / (total + empty);
    if site.is_on() {
        let mask = site.mask([batch, n, m, n_heads], &device);
        weights = weights * mask.permute([0, 3, 1, 2]); // [B, H, N, M]
    }
    weights.matmul(values).swap_dims(1, 2).reshape([rows, d_model]) // [B*N, D]
}

/// The formula of [`sparse_attention`](crate::kernel::sparse_attention) with one row per pair: gathers, segment maxima and sums.
fn attend_lists(qkv: Tensor<2>, lists: &PairLists, n_heads: usize, site: Site) -> Tensor<2> {
    let ([_, width], pairs, indices) = (qkv.dims(), lists.n_pairs(), lists.indices());
    let (d, device) = (width / 3, qkv.device());
    let d_head = d / n_heads;
    let [q, k, v] = split_columns(qkv);
    let q = q.select(0, indices.query.clone()); // [pairs, D]
    let k = k.select(0, indices.key.clone());
    let v = v.select(0, indices.key.clone());
    let scores = (q * k).reshape([pairs * n_heads, d_head]).sum_dim(1).reshape([pairs, n_heads]);
    let scores = scores * (1.0 / (d_head as f64).sqrt());
    let top = indices.segment_max(scores.clone().detach());
    let weights = (scores - top).exp();
    let total = indices.segment_sum(weights.clone()).select(0, indices.query.clone());
    let mut weights = weights / total;
    if site.is_on() {
        weights = weights * site.mask([pairs, n_heads], &device);
    }
    let weighted = v.reshape([pairs, n_heads, d_head]) * weights.reshape([pairs, n_heads, 1]);
    indices.segment_sum(weighted.reshape([pairs, d]))
}

fn linear(x: Tensor<2>, weight: Tensor<2>, bias: Tensor<1>) -> Tensor<2> {
    x.matmul(weight) + bias.unsqueeze()
}

fn layer_norm(x: Tensor<2>, norm: &NormParams, epsilon: f64) -> Tensor<2> {
    let centred = x.clone() - x.mean_dim(1);
    let variance = (centred.clone() * centred.clone()).mean_dim(1);
    centred / (variance + epsilon).sqrt() * norm.gamma.clone().unsqueeze() + norm.beta.clone().unsqueeze()
}

fn drop(x: Tensor<2>, site: Site) -> Tensor<2> {
    if !site.is_on() {
        return x;
    }
    let mask = site.mask(x.dims(), &x.device());
    x * mask
}

/// K equal column blocks.
fn split_columns<const K: usize>(x: Tensor<2>) -> [Tensor<2>; K] {
    let [rows, columns] = x.dims();
    let width = columns / K;
    std::array::from_fn(|k| x.clone().slice([0..rows, k * width..(k + 1) * width]))
}

/// Twin of [`adam`](crate::kernel::adam).
pub fn adam<const D: usize>(
    step: &AdamStep,
    w: Tensor<D>,
    g: Tensor<D>,
    [m, v]: [Tensor<D>; 2],
) -> (Tensor<D>, [Tensor<D>; 2]) {
    let m = m.mul_scalar(step.beta_1) + g.clone().mul_scalar(1.0 - step.beta_1);
    let v = v.mul_scalar(step.beta_2) + g.square().mul_scalar(1.0 - step.beta_2);
    let direction = m.clone() / v.clone().sqrt().add_scalar(step.epsilon * step.root());
    let kept = w.mul_scalar(1.0 - step.lr * f64::from(step.decay));
    (kept - direction.mul_scalar(step.lr * f64::from(step.correction())), [m, v])
}
