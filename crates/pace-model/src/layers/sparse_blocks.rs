//! [`sparse_encoder`]: encoder blocks over packed graphs.

use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use super::block::{BlocksConfig, EncoderBlock, NormPlacement};
use super::norm::EPSILON;
use super::sparse_attention::{PairLists, sparse_attention};
use crate::kernel::{self, Dropout, EncoderParams, NormParams};
use crate::pass::{Pass, Stream};

/// Dropout of the hidden units; attention weights and the outputs of sublayers are sites 0 and 1.
const HIDDEN: usize = 2;
/// Dropout of the output of a sublayer, the number that the kernels give it.
const OUTPUT: usize = 1;

/// A stack of encoder blocks as [`kernel::encoder`], attending along lists instead of under a dense mask.
///
/// # Shapes
///
/// - x, output: [T, D], the rows of `lists`
pub fn sparse_encoder(
    mut x: Tensor<2>,
    lists: &PairLists,
    blocks: &[EncoderBlock],
    config: &BlocksConfig,
    pass: Pass,
) -> Tensor<2> {
    for (layer, block) in blocks.iter().enumerate() {
        let EncoderParams { attention, norm_attention, feed_forward, norm_feed_forward } = block.params();
        // A seed per sublayer: the fused operations number their sites from 0 in every call.
        let dropout = |sublayer| pass.fork(2 * layer + sublayer).dropout(config.dropout, Stream::EncoderBlocks);
        x = sublayer(x, norm_attention, config.norm, dropout(0), |x| {
            let qkv = x.matmul(attention.wqkv) + attention.bqkv.unsqueeze();
            let heads = sparse_attention(qkv, lists, config.n_heads, dropout(0));
            heads.matmul(attention.wo) + attention.bo.unsqueeze()
        });
        x = sublayer(x, norm_feed_forward, config.norm, dropout(1), |x| {
            let hidden = relu(x.matmul(feed_forward.w1) + feed_forward.b1.unsqueeze());
            dropout(1).apply(HIDDEN, hidden).matmul(feed_forward.w2) + feed_forward.b2.unsqueeze()
        });
    }
    x
}

/// LN(x + Drop(f(x))) or x + Drop(f(LN(x))).
fn sublayer(
    x: Tensor<2>,
    norm: NormParams,
    placement: NormPlacement,
    dropout: Dropout,
    f: impl FnOnce(Tensor<2>) -> Tensor<2>,
) -> Tensor<2> {
    match placement {
        NormPlacement::Post => kernel::add_norm(x.clone(), f(x), norm, EPSILON, dropout),
        NormPlacement::Pre => {
            let normal = kernel::add_norm(x.zeros_like(), x.clone(), norm, EPSILON, Dropout::NONE);
            x + dropout.apply(OUTPUT, f(normal))
        }
    }
}
