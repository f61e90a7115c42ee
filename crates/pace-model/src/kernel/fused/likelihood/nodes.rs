//! The cross-entropy of operations.

use super::{NOBODY, Sizes};
use crate::kernel::fused::simd::{Simd, kernel, map, sum};

kernel! {
    /// Logits [R, T] become softmax(logits) - onehot(label), their slopes; -log p(label) is added to the graph's nll.
    fn cross_entropy(s: Sizes, labels: &[u32], logits: &mut [f32], nll: &mut [f32]) = cross_entropy_body
}

#[inline(always)]
fn cross_entropy_body<S: Simd>(simd: S, s: Sizes, labels: &[u32], logits: &mut [f32], nll: &mut [f32]) {
    for (index, (row, &label)) in logits.chunks_exact_mut(s.n_ops).zip(labels).enumerate() {
        if label == NOBODY {
            row.fill(0.0);
            continue;
        }
        // Not f32::max, which would let a NaN disappear.
        let top = row.iter().copied().fold(f32::NEG_INFINITY, |top, x| if x <= top { top } else { x });
        let own = row[label as usize] - top;
        let top = simd.splat(top);
        map!(simd, row, [], |_, x, []| simd.exp(simd.sub(x, top)));
        let total = sum!(simd, [row], |[x]| x);
        nll[index / (s.n - 1)] += total.ln() - own;
        let inverse = simd.splat(1.0 / total);
        map!(simd, row, [], |_, x, []| simd.mul(x, inverse));
        row[label as usize] -= 1.0;
    }
}
