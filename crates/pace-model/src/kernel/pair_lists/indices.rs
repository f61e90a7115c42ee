//! The lists as index tensors, for the plain twins.

use burn::tensor::{Device, IndexingUpdateOp, Int, Tensor};

use super::lists::Lists;
use crate::batch::ints;

/// Index tensors with one entry per pair.
#[derive(Debug)]
pub(crate) struct Indices {
    n_rows: usize,
    /// Row of each pair's query.
    pub(crate) query: Tensor<1, Int>,
    /// Row of each pair's key.
    pub(crate) key: Tensor<1, Int>,
    /// The first pair of the same query.
    first: Tensor<1, Int>,
    /// For k = 0, 1, ..: the pair 2^k further on in the same list, or its last.
    jumps: Vec<Tensor<1, Int>>,
}

impl Indices {
    pub(super) fn new(lists: &Lists, device: &Device) -> Indices {
        let pairs = lists.keys.n_items();
        let (mut query, mut first) = (Vec::with_capacity(pairs), Vec::with_capacity(pairs));
        let (mut last, mut longest) = (Vec::with_capacity(pairs), 0);
        for (row, bounds) in lists.keys.offsets().windows(2).enumerate() {
            let length = (bounds[1] - bounds[0]) as usize;
            longest = longest.max(length);
            query.extend(std::iter::repeat_n(row as i32, length));
            first.extend(std::iter::repeat_n(bounds[0] as i32, length));
            last.extend(std::iter::repeat_n(bounds[1] as i32 - 1, length));
        }
        let mut jumps = Vec::new();
        let mut step = 1;
        while step < longest {
            let jump = last.iter().enumerate().map(|(pair, &last)| last.min((pair + step) as i32)).collect();
            jumps.push(ints(jump, [pairs], device));
            step *= 2;
        }
        Indices {
            n_rows: lists.n_rows(),
            query: ints(query, [pairs], device),
            key: ints(lists.keys.items().iter().map(|&key| key as i32).collect(), [pairs], device),
            first: ints(first, [pairs], device),
            jumps,
        }
    }

    /// For every pair the largest value among the pairs of its query, by doubling: log2(longest list) gathers and no
    /// operation that a backend might lack. Shapes: [pairs, H] -> [pairs, H].
    pub(crate) fn segment_max(&self, values: Tensor<2>) -> Tensor<2> {
        let widen = |top: Tensor<2>, jump: &Tensor<1, Int>| top.clone().max_pair(top.select(0, jump.clone()));
        self.jumps.iter().fold(values, widen).select(0, self.first.clone())
    }

    /// The sum over the pairs of each query. Shapes: [pairs, W] -> [T, W].
    pub(crate) fn segment_sum(&self, values: Tensor<2>) -> Tensor<2> {
        let [_, width] = values.dims();
        let zeros = Tensor::zeros([self.n_rows, width], &values.device());
        zeros.select_assign(0, self.query.clone(), values, IndexingUpdateOp::Add)
    }
}
