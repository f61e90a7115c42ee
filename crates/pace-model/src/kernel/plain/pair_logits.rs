//! The classifier of pairs in stock operations.

use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use crate::batch::ints;
use crate::kernel::pair_logits::RowPairs;

/// Twin of [`pair_logits`](crate::kernel::pair_logits).
pub fn pair_logits(
    target: Tensor<2>,
    source: Tensor<2>,
    pairs: &RowPairs,
    out: Tensor<2>,
    out_bias: Tensor<1>,
) -> Tensor<2> {
    let device = target.device();
    let picked = |half: Tensor<2>, rows: &[u32]| {
        half.select(0, ints(rows.iter().map(|&row| row as i32).collect(), [rows.len()], &device))
    };
    let hidden = relu(picked(target, &pairs.targets) + picked(source, &pairs.sources));
    hidden.matmul(out) + out_bias.unsqueeze()
}
