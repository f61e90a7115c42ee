//! Stacks of blocks in stock operations.

use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use super::attention::{attend, attend_lists, for_all_heads};
use super::{drop, layer_norm, linear, split_columns};
use crate::kernel::Masks;
use crate::kernel::dropout::Site;
use crate::kernel::pair_lists::PairLists;
use crate::kernel::params::{
    BlockConfig, CrossAttentionParams, DecoderParams, EncoderParams, FeedForwardParams, NormParams, NormPlacement,
    SelfAttentionParams, site,
};
use crate::kernel::pasts::Pasts;
use crate::kernel::shared_pasts::by_pasts;

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
