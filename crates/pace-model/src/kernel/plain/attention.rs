//! Attention in stock operations.

use burn::tensor::Tensor;

use super::split_columns;
use crate::kernel::dropout::{Dropout, Site};
use crate::kernel::pair_lists::PairLists;
use crate::kernel::params::site;
use crate::kernel::{MASKED, PENALISED};

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

fn attend_packed(qkv: Tensor<2>, bias: Option<Tensor<3>>, batch: usize, n_heads: usize, site: Site) -> Tensor<2> {
    let [q, keys, values] = split_columns(qkv);
    attend(q, keys, values, for_all_heads(bias), batch, n_heads, site)
}

/// [B, N, M] -> [B, 1, N, M].
pub(super) fn for_all_heads(bias: Option<Tensor<3>>) -> Option<Tensor<4>> {
    bias.map(|bias| bias.unsqueeze_dim(1))
}

/// softmax(Q K^T / sqrt(D/H) + bias) V for every head, with exact zeros where masked.
pub(super) fn attend(
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
pub(super) fn attend_lists(qkv: Tensor<2>, lists: &PairLists, n_heads: usize, site: Site) -> Tensor<2> {
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
