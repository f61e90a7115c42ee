//! [`EncoderStack`]: Transformer blocks and the norm after the last.

use burn::module::Module;
use burn::tensor::{Int, Tensor, TensorData};

use super::block::{BlocksConfig, EncoderBlock, NormPlacement};
use super::init::Init;
use super::norm::Norm;
use crate::kernel::{self, Dropout, EncoderParams, PairLists, Pasts, plain};

/// Which keys each row attends to.
#[derive(Clone, Debug)]
pub enum Keys<'a> {
    /// By an attention bias for all heads, [B, N, N].
    Bias(Tensor<3>),
    /// By a bias for each head, [B, H, N, N], which may be differentiated. Computed by stock operations on every device.
    HeadBias(Tensor<4>),
    /// Along lists, over packed rows.
    Lists(&'a PairLists),
}

/// A stack of encoder blocks and, if these normalise first, a norm after the last.
#[derive(Module, Debug)]
pub struct EncoderStack {
    blocks: Vec<EncoderBlock>,
    norm: Option<Norm>,
    #[module(skip)]
    config: BlocksConfig,
}

impl EncoderStack {
    /// Of width `d`.
    pub fn new(config: &BlocksConfig, d: usize, init: &mut Init<'_>) -> EncoderStack {
        EncoderStack {
            blocks: config.init_encoder(d, init),
            norm: (config.norm == NormPlacement::Pre).then(|| Norm::new(d, init)),
            config: *config,
        }
    }

    /// All rows. Shapes: [rows, D] -> [rows, D].
    pub fn forward(&self, x: Tensor<2>, keys: &Keys<'_>, dropout: Dropout) -> Tensor<2> {
        let (layers, config) = (self.layers(), self.config.kernel(dropout));
        self.normalise(match keys {
            Keys::Bias(bias) => kernel::encoder(x, bias.clone(), layers, &config),
            Keys::HeadBias(bias) => plain::encoder_per_head(x, bias.clone(), layers, &config),
            Keys::Lists(lists) => kernel::sparse_encoder(x, lists, layers, &config),
        })
    }

    /// Some rows, ascending. The last block computes only those. Shapes: [rows, D], R of them -> [R, D].
    pub fn forward_at(&self, x: Tensor<2>, keys: &Keys<'_>, rows: &[u32], dropout: Dropout) -> Tensor<2> {
        let (layers, config) = (self.layers(), self.config.kernel(dropout));
        self.normalise(match keys {
            Keys::Bias(bias) => kernel::encoder_rows(x, bias.clone(), rows, layers, &config),
            Keys::Lists(lists) => kernel::sparse_encoder_rows(x, lists, rows, layers, &config),
            Keys::HeadBias(bias) => {
                let indices: Vec<i32> = rows.iter().map(|&row| row as i32).collect();
                let indices = Tensor::<1, Int>::from_data(TensorData::new(indices, [rows.len()]), &x.device());
                plain::encoder_per_head(x, bias.clone(), layers, &config).select(0, indices)
            }
        })
    }

    /// Rows with equal pasts once, in evaluation: distinct inputs [U, D] -> [pasts, D], or those of some rows.
    pub(crate) fn forward_shared(&self, x: Tensor<2>, pasts: &Pasts, rows: Option<&[u32]>) -> Tensor<2> {
        let config = self.config.kernel(Dropout::NONE);
        self.normalise(kernel::shared_encoder(x, pasts, rows, self.layers(), &config))
    }

    /// The parameters of all blocks.
    fn layers(&self) -> Vec<EncoderParams> {
        self.blocks.iter().map(EncoderBlock::params).collect()
    }

    /// The norm after the last block, if there is one.
    fn normalise(&self, x: Tensor<2>) -> Tensor<2> {
        match &self.norm {
            Some(norm) => norm.forward(x),
            None => x,
        }
    }
}
