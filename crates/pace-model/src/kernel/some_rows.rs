//! Stacks of encoder blocks of which only some rows are read, such as the roots of trees.

use burn::tensor::Tensor;

use super::blocks::{encoder, sparse_encoder};
#[cfg(feature = "flex")]
use super::check;
#[cfg(feature = "flex")]
use super::fused::{
    autodiff::{self, Input, values},
    some_rows::{self, Reads},
};
use super::pair_lists::PairLists;
#[cfg(feature = "flex")]
use super::params::NormPlacement;
use super::params::{BlockConfig, EncoderParams};
use crate::batch::ints;

/// The given rows of the result of [`encoder`]. Costs less, because the last block is computed at these rows only.
///
/// # Shapes
///
/// - x: [B*N, D]; bias: [B, N, N]; rows: R of 0..B*N, ascending -> [R, D]
///
/// # Panics
///
/// If the shapes do not fit together, or the rows are not ascending.
pub fn encoder_rows(
    x: Tensor<2>,
    bias: Tensor<3>,
    rows: &[u32],
    layers: Vec<EncoderParams>,
    config: &BlockConfig,
) -> Tensor<2> {
    #[cfg(feature = "flex")]
    if serves(&x, &layers, config) && !check::needs_grad(Some(&bias)) {
        let [_, n, _] = bias.dims();
        if let Some(reads) = Reads::of_bias(rows, values(&Input::constant(bias.clone())), n) {
            return read(x, reads, layers, config, |x, layers| encoder(x, bias, layers, config));
        }
    }
    select(encoder(x, bias, layers, config), rows)
}

/// The given rows of the result of [`sparse_encoder`], as [`encoder_rows`].
///
/// # Shapes
///
/// - x: [T, D], the rows of `lists`; rows: R of 0..T, ascending -> [R, D]
///
/// # Panics
///
/// If the shapes do not fit together, or the rows are not ascending.
pub fn sparse_encoder_rows(
    x: Tensor<2>,
    lists: &PairLists,
    rows: &[u32],
    layers: Vec<EncoderParams>,
    config: &BlockConfig,
) -> Tensor<2> {
    #[cfg(feature = "flex")]
    if serves(&x, &layers, config) {
        let reads = Reads::of_lists(rows, lists.host());
        return read(x, reads, layers, config, |x, layers| sparse_encoder(x, lists, layers, config));
    }
    select(sparse_encoder(x, lists, layers, config), rows)
}

fn select(nodes: Tensor<2>, rows: &[u32]) -> Tensor<2> {
    let device = nodes.device();
    nodes.select(0, ints(rows.iter().map(|&row| row as i32).collect(), [rows.len()], &device))
}

#[cfg(feature = "flex")]
fn serves(x: &Tensor<2>, layers: &[EncoderParams], config: &BlockConfig) -> bool {
    autodiff::serves(x) && !layers.is_empty() && config.norm == NormPlacement::Post
}

/// All blocks but the last on all rows, the last at those that are read.
#[cfg(feature = "flex")]
fn read(
    x: Tensor<2>,
    reads: Reads,
    mut layers: Vec<EncoderParams>,
    config: &BlockConfig,
    blocks: impl FnOnce(Tensor<2>, Vec<EncoderParams>) -> Tensor<2>,
) -> Tensor<2> {
    let [_, d] = x.dims();
    check::encoder(&layers, d);
    let last = layers.pop().expect("at least one block");
    let layer = layers.len();
    some_rows::last_block(blocks(x, layers), reads, last, layer, config)
}
