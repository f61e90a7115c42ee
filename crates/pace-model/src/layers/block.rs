//! Transformer blocks: their parameters and initialisation. The kernels compute them.

use burn::module::{Module, Param};
use burn::tensor::Tensor;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::init::Init;
use super::norm::{EPSILON, Norm};
use crate::kernel;
use crate::kernel::{
    BlockConfig, CrossAttentionParams, DecoderParams, Dropout, EncoderParams, FeedForwardParams, SelfAttentionParams,
};

/// Where a block normalises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NormPlacement {
    /// After the residual: the paper, and the published VAE code.
    Post,
    /// Before the sublayer, and once after the last block: the published MLM code.
    Pre,
}

/// Configuration of a stack of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlocksConfig {
    /// The paper's K.
    pub n_layers: usize,
    /// H; must divide D.
    pub n_heads: usize,
    /// Width of the feed-forward sublayer.
    pub d_ff: usize,
    /// Dropout in training, on attention weights, hidden units and sublayer outputs; from 0 to below 1.
    #[serde(deserialize_with = "probability")]
    pub dropout: f64,
    /// Where to normalise.
    pub norm: NormPlacement,
    /// All blocks start from the same weights: the published code copies one block.
    pub tied_init: bool,
}

/// A description of a model with a dropout that no training can use does not parse.
pub(crate) fn probability<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let p = f64::deserialize(deserializer)?;
    match (0.0..1.0).contains(&p) {
        true => Ok(p),
        false => Err(D::Error::custom(format!("dropout {p} is not from 0 to below 1"))),
    }
}

impl BlocksConfig {
    /// The settings of the kernels under the given dropout.
    pub(crate) fn kernel(&self, dropout: Dropout) -> BlockConfig {
        let norm = match self.norm {
            NormPlacement::Post => kernel::NormPlacement::Post,
            NormPlacement::Pre => kernel::NormPlacement::Pre,
        };
        BlockConfig { n_heads: self.n_heads, epsilon: EPSILON, norm, dropout }
    }

    /// The encoder blocks of width `d`.
    pub fn init_encoder(&self, d: usize, init: &mut Init<'_>) -> Vec<EncoderBlock> {
        self.stack(init, |init| EncoderBlock::new(d, self.d_ff, init))
    }

    /// The decoder blocks of width `d`.
    pub fn init_decoder(&self, d: usize, init: &mut Init<'_>) -> Vec<DecoderBlock> {
        self.stack(init, |init| DecoderBlock::new(d, self.d_ff, init))
    }

    fn stack<M>(&self, init: &mut Init<'_>, make: impl Fn(&mut Init<'_>) -> M) -> Vec<M> {
        // Now, and not by a worker in the first training step.
        assert!((0.0..1.0).contains(&self.dropout), "dropout {} is not from 0 to below 1", self.dropout);
        if self.tied_init {
            let same = init.fork();
            // The last one draws from `init` itself, so that what comes after the stack does not draw the same again.
            let copies = (1..self.n_layers).map(|_| make(&mut same.fork()));
            copies.chain((self.n_layers > 0).then(|| make(init))).collect()
        } else {
            (0..self.n_layers).map(|_| make(init)).collect()
        }
    }
}

/// Self-attention with one packed projection: wqkv [D, 3D], wo [D, D].
#[derive(Module, Debug)]
pub struct SelfAttention {
    wqkv: Param<Tensor<2>>,
    bqkv: Param<Tensor<1>>,
    wo: Param<Tensor<2>>,
    bo: Param<Tensor<1>>,
}

impl SelfAttention {
    fn new(d: usize, init: &mut Init<'_>) -> SelfAttention {
        SelfAttention {
            wqkv: init.xavier(d, 3 * d, 1.0),
            bqkv: init.constant([3 * d], 0.0),
            wo: init.uniform([d, d], 1.0 / (d as f64).sqrt()),
            bo: init.constant([d], 0.0),
        }
    }

    /// The tensors, for the kernels.
    pub(crate) fn params(&self) -> SelfAttentionParams {
        SelfAttentionParams { wqkv: self.wqkv.val(), bqkv: self.bqkv.val(), wo: self.wo.val(), bo: self.bo.val() }
    }
}

/// Attention to a memory: wq [D, D], wkv [D, 2D], wo [D, D].
#[derive(Module, Debug)]
pub struct CrossAttention {
    wq: Param<Tensor<2>>,
    bq: Param<Tensor<1>>,
    wkv: Param<Tensor<2>>,
    bkv: Param<Tensor<1>>,
    wo: Param<Tensor<2>>,
    bo: Param<Tensor<1>>,
}

impl CrossAttention {
    fn new(d: usize, init: &mut Init<'_>) -> CrossAttention {
        // One packed projection in the published code: the bound is that of the whole.
        let bound = (6.0 / (4 * d) as f64).sqrt();
        CrossAttention {
            wq: init.uniform([d, d], bound),
            bq: init.constant([d], 0.0),
            wkv: init.uniform([d, 2 * d], bound),
            bkv: init.constant([2 * d], 0.0),
            wo: init.uniform([d, d], 1.0 / (d as f64).sqrt()),
            bo: init.constant([d], 0.0),
        }
    }

    /// The tensors, for the kernels.
    pub(crate) fn params(&self) -> CrossAttentionParams {
        CrossAttentionParams {
            wq: self.wq.val(),
            bq: self.bq.val(),
            wkv: self.wkv.val(),
            bkv: self.bkv.val(),
            wo: self.wo.val(),
            bo: self.bo.val(),
        }
    }
}

/// Two layers with ReLU between: w1 [D, F], w2 [F, D].
#[derive(Module, Debug)]
pub struct FeedForward {
    w1: Param<Tensor<2>>,
    b1: Param<Tensor<1>>,
    w2: Param<Tensor<2>>,
    b2: Param<Tensor<1>>,
}

impl FeedForward {
    fn new(d: usize, d_ff: usize, init: &mut Init<'_>) -> FeedForward {
        let (into, out) = (1.0 / (d as f64).sqrt(), 1.0 / (d_ff as f64).sqrt());
        FeedForward {
            w1: init.uniform([d, d_ff], into),
            b1: init.uniform([d_ff], into),
            w2: init.uniform([d_ff, d], out),
            b2: init.uniform([d], out),
        }
    }

    /// The tensors, for the kernels.
    pub(crate) fn params(&self) -> FeedForwardParams {
        FeedForwardParams { w1: self.w1.val(), b1: self.b1.val(), w2: self.w2.val(), b2: self.b2.val() }
    }
}

/// An encoder block: masked self-attention, feed-forward.
#[derive(Module, Debug)]
pub struct EncoderBlock {
    attention: SelfAttention,
    norm_attention: Norm,
    feed_forward: FeedForward,
    norm_feed_forward: Norm,
}

impl EncoderBlock {
    fn new(d: usize, d_ff: usize, init: &mut Init<'_>) -> EncoderBlock {
        EncoderBlock {
            attention: SelfAttention::new(d, init),
            norm_attention: Norm::new(d, init),
            feed_forward: FeedForward::new(d, d_ff, init),
            norm_feed_forward: Norm::new(d, init),
        }
    }

    /// The tensors, for the kernels.
    pub(crate) fn params(&self) -> EncoderParams {
        EncoderParams {
            attention: self.attention.params(),
            norm_attention: self.norm_attention.params(),
            feed_forward: self.feed_forward.params(),
            norm_feed_forward: self.norm_feed_forward.params(),
        }
    }
}

/// A decoder block: masked self-attention, attention to the memory, feed-forward.
#[derive(Module, Debug)]
pub struct DecoderBlock {
    attention: SelfAttention,
    norm_attention: Norm,
    cross: CrossAttention,
    norm_cross: Norm,
    feed_forward: FeedForward,
    norm_feed_forward: Norm,
}

impl DecoderBlock {
    fn new(d: usize, d_ff: usize, init: &mut Init<'_>) -> DecoderBlock {
        DecoderBlock {
            attention: SelfAttention::new(d, init),
            norm_attention: Norm::new(d, init),
            cross: CrossAttention::new(d, init),
            norm_cross: Norm::new(d, init),
            feed_forward: FeedForward::new(d, d_ff, init),
            norm_feed_forward: Norm::new(d, init),
        }
    }

    /// The tensors, for the kernels.
    pub(crate) fn params(&self) -> DecoderParams {
        DecoderParams {
            attention: self.attention.params(),
            norm_attention: self.norm_attention.params(),
            cross: self.cross.params(),
            norm_cross: self.norm_cross.params(),
            feed_forward: self.feed_forward.params(),
            norm_feed_forward: self.norm_feed_forward.params(),
        }
    }
}
