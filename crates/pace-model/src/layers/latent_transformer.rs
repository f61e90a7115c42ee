//! [`LatentTransformer`]: a causal Transformer over steps that reads a latent vector.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::block::{BlocksConfig, DecoderBlock};
use super::init::Init;
use crate::batch::floats;
use crate::kernel::{self, Dropout, Masks};

/// What runs over the rows of a string.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StringModel {
    /// A gated recurrent unit, as published.
    Gru,
    /// A Transformer: "S-VAE (Transformer)" and "GraphRNN (Transformer)" of Table 5.
    Transformer(BlocksConfig),
}

/// Decoder blocks over S steps, each of which sees itself and the steps before. With p_s a learned vector for step s and M slots of
/// memory:
///
/// ```text
/// memory = W z + b      o = blocks(x_s + p_s, memory)
/// ```
///
/// The memory is that of PACE's decoder, as many slots as a graph has positions.
#[derive(Module, Debug)]
pub struct LatentTransformer {
    /// [steps, D].
    positions: Param<Tensor<2>>,
    /// Z to M*D.
    memory: Linear,
    blocks: Vec<DecoderBlock>,
    #[module(skip)]
    config: BlocksConfig,
}

impl LatentTransformer {
    /// Of width `d`, for latent vectors of width `d_latent` and graphs of at most `max_nodes` positions.
    pub fn new(
        config: &BlocksConfig,
        d_latent: usize,
        max_nodes: usize,
        d: usize,
        init: &mut Init<'_>,
    ) -> LatentTransformer {
        LatentTransformer {
            positions: init.uniform([max_nodes - 1, d], 1.0 / (max_nodes as f64).sqrt()),
            memory: init.linear(d_latent, max_nodes * d, true),
            blocks: config.init_decoder(d, init),
            config: *config,
        }
    }

    /// The probability of its dropout.
    pub fn dropout(&self) -> f64 {
        self.config.dropout
    }

    /// The vectors of the first S steps. Without rows, steps know their index alone. Shapes: z [B, Z], x [B*S, D] -> [B*S, D].
    pub fn forward(&self, z: Tensor<2>, x: Option<Tensor<2>>, n_steps: usize, dropout: Dropout) -> Tensor<2> {
        let ([b, _], [_, d], device) = (z.dims(), self.positions.dims(), z.device());
        let positions = self.positions.val().slice([0..n_steps, 0..d]).repeat_dim(0, b);
        let x = match x {
            Some(x) => x + positions,
            None => positions,
        };
        let memory = self.memory.forward(z).reshape([-1, d as i32]); // [B*M, D]
        let masks = Masks { own: causal(b, n_steps, &device), memory: None };
        let layers = self.blocks.iter().map(DecoderBlock::params).collect();
        kernel::decoder(x, memory, masks, layers, &self.config.kernel(dropout))
    }
}

/// Every step sees itself and all before it. [B, S, S].
fn causal(b: usize, n_steps: usize, device: &Device) -> Tensor<3> {
    let row = |query: usize| (0..n_steps).map(move |key| if key <= query { 0.0 } else { f32::NEG_INFINITY });
    floats((0..n_steps).flat_map(row).collect(), [1, n_steps, n_steps], device).repeat_dim(0, b)
}
