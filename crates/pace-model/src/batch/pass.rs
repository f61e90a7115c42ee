//! [`Pass`]: whether a forward pass trains, and the seed of everything random in it.

use burn::tensor::{Device, Tensor, TensorData};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::kernel::Dropout;

/// What draws random numbers in one pass. Each has its own stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Stream {
    /// Dropout in the node embedding of the encoder.
    EncoderEmbedding = 1,
    /// Dropout in the encoder blocks.
    EncoderBlocks,
    /// Dropout in the node embedding of the decoder.
    DecoderEmbedding,
    /// Dropout in the decoder blocks.
    DecoderBlocks,
    /// The noise of the reparameterisation.
    Latent,
    /// Which nodes are masked in MLM.
    Corruption,
    /// Dropout in the pair encoder and its embedding.
    Pair,
    /// Dropout in heads.
    Head,
}

/// One forward pass. Evaluation draws no random numbers. A training pass draws all of them from its seed: the same seed gives
/// the same pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pass {
    /// No dropout, no noise.
    #[default]
    Eval,
    /// Dropout and noise; the caller gives every step its own seed.
    Train {
        /// The seed of this step.
        seed: u64,
    },
}

impl Pass {
    /// Dropout with probability `p` for one stream; no dropout in evaluation.
    pub fn dropout(self, p: f64, stream: Stream) -> Dropout {
        match self {
            Pass::Train { .. } if p > 0.0 => Dropout::new(p, self.seed(stream)),
            _ => Dropout::NONE,
        }
    }

    /// The generator of one stream; `None` in evaluation.
    pub fn rng(self, stream: Stream) -> Option<ChaCha8Rng> {
        matches!(self, Pass::Train { .. }).then(|| ChaCha8Rng::seed_from_u64(self.seed(stream)))
    }

    /// Standard normal numbers from one stream; `None` in evaluation.
    pub fn normal<const D: usize>(self, shape: [usize; D], stream: Stream, device: &Device) -> Option<Tensor<D>> {
        let mut rng = self.rng(stream)?;
        let draw = |_| -> f32 { StandardNormal.sample(&mut rng) };
        let values: Vec<f32> = (0..shape.iter().product()).map(draw).collect();
        Some(Tensor::from_data(TensorData::new(values, shape), device))
    }

    /// The seed of one stream: neighbouring steps and streams share nothing.
    fn seed(self, stream: Stream) -> u64 {
        match self {
            Pass::Eval => 0,
            Pass::Train { seed } => {
                seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (stream as u64).wrapping_mul(0xd1b5_4a32_d192_ed03)
            }
        }
    }
}
