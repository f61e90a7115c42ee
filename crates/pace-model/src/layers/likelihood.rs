//! The likelihood of graphs under decoders that speak in steps: step s of S = N - 1 is about position s + 1.
//!
//! The convention is that of PACE's decoder: position 0, the start symbol, is given. Operations of all later nodes count, and edges
//! between real nodes. Padding does not.

use burn::tensor::activation::{log_sigmoid, log_softmax};
use burn::tensor::{Int, Tensor};

use crate::batch::{DagBatch, floats, ints};

/// The cross-entropy of the operations. Shapes: logits [B*S, T] -> `[B]`.
pub(crate) fn op_nll(logits: Tensor<2>, batch: &DagBatch) -> Tensor<1> {
    let ([b, n], device) = (batch.dims(), batch.device());
    let (mut ops, mut real) = (Vec::with_capacity(b * n), Vec::with_capacity(b * n));
    for (tokens, &length) in batch.host_tokens.chunks_exact(n).zip(&batch.lengths) {
        ops.extend(tokens[1..].iter().map(|&token| i32::from(token)));
        real.extend((1..n).map(|position| if position < length { 1.0 } else { 0.0 }));
    }
    let nll = category_nll(logits, ints(ops, [b * (n - 1)], &device)).reshape([b, n - 1]);
    (nll * floats(real, [b, n - 1], &device)).sum_dim(1).reshape([b])
}

/// `-log softmax(logits)` at the true categories. Shapes: logits [R, T], truth `[R]` -> `[R]`.
pub(crate) fn category_nll(logits: Tensor<2>, truth: Tensor<1, Int>) -> Tensor<1> {
    let [rows, _] = logits.dims();
    log_softmax(logits, 1).gather(1, truth.reshape([rows, 1])).neg().reshape([rows])
}

/// All pairs (source, target) of positions with 1 <= source < target < n, by source.
pub(crate) fn pairs(n: usize) -> Vec<(usize, usize)> {
    (1..n).flat_map(|source| (source + 1..n).map(move |target| (source, target))).collect()
}

/// The binary cross-entropy of the edges at `pairs` of positions (source, target). Shapes: logits [B, P] -> `[B]`.
pub(crate) fn edge_nll(logits: Tensor<2>, pairs: &[(usize, usize)], batch: &DagBatch) -> Tensor<1> {
    let ([b, n], device) = (batch.dims(), batch.device());
    let places = pairs.iter().map(|&(source, target)| (target * n + source) as i32).collect();
    let truth = batch.edges().reshape([b, n * n]).select(1, ints(places, [pairs.len()], &device));
    let row = |&length: &usize| pairs.iter().map(move |&(_, target)| if target < length { 1.0 } else { 0.0 });
    let real = floats(batch.lengths.iter().flat_map(row).collect(), [b, pairs.len()], &device);
    (binary_nll(logits, truth) * real).sum_dim(1).reshape([b])
}

/// `-y log s(x) - (1 - y) log(1 - s(x))` for y of 0 or 1, as `-log s(x)` or `-log s(-x)`.
pub(crate) fn binary_nll<const D: usize>(logits: Tensor<D>, truth: Tensor<D>) -> Tensor<D> {
    log_sigmoid(logits * (truth * 2.0 - 1.0)).neg()
}
