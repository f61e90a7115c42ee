//! [`GraphStack`]: Transformer blocks around an attention that the caller writes.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use super::block::{BlocksConfig, NormPlacement};
use super::init::Init;
use super::norm::{EPSILON, Norm};
use crate::kernel::{self, Dropout};

/// Dropout sites of a block: output of the attention, hidden units, output of the feed-forward sublayer.
const SITES_PER_BLOCK: usize = 3;

/// Blocks whose attention is not that of an [`EncoderStack`](super::EncoderStack). With f the caller's attention:
///
/// ```text
/// y = LN(x + Drop(f(x W_p) W_o))      x' = LN(y + Drop(Drop(ReLU(y W_1 + b_1)) W_2 + b_2))
/// ```
///
/// or with the norms in front, see [`NormPlacement`]. W_p is as many maps side by side as the attention needs, so that they are one
/// product. Attention weights are not dropped; that would be up to f.
#[derive(Module, Debug)]
pub struct GraphStack {
    blocks: Vec<GraphBlock>,
    norm: Option<Norm>,
    #[module(skip)]
    config: BlocksConfig,
}

/// The parameters of one block.
#[derive(Module, Debug)]
struct GraphBlock {
    /// W_p, [D, P*D].
    projection: Param<Tensor<2>>,
    output: Linear,
    norm_attention: Norm,
    hidden: Linear,
    contract: Linear,
    norm_feed_forward: Norm,
}

impl GraphStack {
    /// Of width `d`, with `n_parts` maps in the projection (P) and, if `bias`, a bias in the output map of the attention.
    ///
    /// # Panics
    /// Unless heads divide the width and dropout is from 0 to below 1.
    pub fn new(config: &BlocksConfig, d: usize, n_parts: usize, bias: bool, init: &mut Init<'_>) -> GraphStack {
        assert!((0.0..1.0).contains(&config.dropout), "dropout {} is not from 0 to below 1", config.dropout);
        assert!(d.is_multiple_of(config.n_heads), "{} heads do not divide a width of {d}", config.n_heads);
        let make = |init: &mut Init<'_>| GraphBlock {
            projection: init.uniform([d, n_parts * d], 1.0 / (d as f64).sqrt()),
            output: init.linear(d, d, bias),
            norm_attention: Norm::new(d, init),
            hidden: init.linear(d, config.d_ff, true),
            contract: init.linear(config.d_ff, d, true),
            norm_feed_forward: Norm::new(d, init),
        };
        let blocks = (0..config.n_layers).map(|layer| match config.tied_init && layer + 1 < config.n_layers {
            true => make(&mut init.fork()),
            false => make(init),
        });
        GraphStack {
            blocks: blocks.collect(),
            norm: (config.norm == NormPlacement::Pre).then(|| Norm::new(d, init)),
            config: *config,
        }
    }

    /// All rows. `attend` maps the projection, [R, P*D], to the outputs of the heads side by side, [R, D].
    ///
    /// Shapes: [R, D] -> [R, D].
    pub fn forward(&self, mut x: Tensor<2>, dropout: Dropout, attend: impl Fn(Tensor<2>) -> Tensor<2>) -> Tensor<2> {
        for (layer, block) in self.blocks.iter().enumerate() {
            let drop = |site, y| dropout.apply(layer * SITES_PER_BLOCK + site, y);
            x = self.sublayer(x, &block.norm_attention, |x| {
                drop(0, block.output.forward(attend(x.matmul(block.projection.val()))))
            });
            x = self.sublayer(x, &block.norm_feed_forward, |x| {
                let hidden = drop(1, relu(block.hidden.forward(x)));
                drop(2, block.contract.forward(hidden))
            });
        }
        match &self.norm {
            Some(norm) => norm.forward(x),
            None => x,
        }
    }

    /// LN(x + f(x)) or x + f(LN(x)).
    fn sublayer(&self, x: Tensor<2>, norm: &Norm, f: impl FnOnce(Tensor<2>) -> Tensor<2>) -> Tensor<2> {
        match self.config.norm {
            NormPlacement::Post => kernel::add_norm(x.clone(), f(x), norm.params(), EPSILON, Dropout::NONE),
            NormPlacement::Pre => x.clone() + f(norm.forward(x)),
        }
    }
}
