//! [`sparse_attention`]: multi-head attention over lists of keys, without an N x N matrix.

use burn::tensor::{Device, IndexingUpdateOp, Int, Tensor};

use crate::batch::ints;
use crate::kernel::Dropout;

/// The keys that each of T rows attends to, as T compressed lists (CSR), and the indices derived from them.
#[derive(Clone, Debug)]
pub struct PairLists {
    /// `offsets[q]..offsets[q + 1]` are the pairs of row `q`.
    offsets: Vec<u32>,
    /// Key of each pair.
    keys: Vec<u32>,
    /// Row of each pair's query, [pairs].
    query: Tensor<1, Int>,
    /// Row of each pair's key, [pairs].
    key: Tensor<1, Int>,
    /// The first pair of the same query, [pairs].
    first: Tensor<1, Int>,
    /// For k = 0, 1, ..: the pair 2^k further on in the same list, or its last, [pairs].
    jumps: Vec<Tensor<1, Int>>,
}

impl PairLists {
    /// Lists over rows `0..offsets.len() - 1`; a row may have none, and gets zeros.
    ///
    /// # Panics
    /// If the offsets do not cover the keys.
    pub fn new(offsets: Vec<u32>, keys: Vec<u32>, device: &Device) -> PairLists {
        assert!(offsets.first() == Some(&0), "offsets start at 0");
        assert_eq!(offsets.last().map(|&end| end as usize), Some(keys.len()), "offsets end at the number of keys");
        let pairs = keys.len();
        let (mut query, mut first) = (Vec::with_capacity(pairs), Vec::with_capacity(pairs));
        let (mut last, mut longest) = (Vec::with_capacity(pairs), 0);
        for (row, bounds) in offsets.windows(2).enumerate() {
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
        PairLists {
            query: ints(query, [pairs], device),
            key: ints(keys.iter().map(|&key| key as i32).collect(), [pairs], device),
            first: ints(first, [pairs], device),
            jumps,
            offsets,
            keys,
        }
    }

    /// How many rows, T.
    pub fn n_rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many (query, key) pairs.
    pub fn n_pairs(&self) -> usize {
        self.keys.len()
    }

    /// The keys of a row.
    pub fn keys(&self, row: usize) -> &[u32] {
        &self.keys[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// For every pair the largest value among the pairs of its query, by doubling: log2(longest list) gathers and no
    /// operation that a backend might lack. Shapes: [pairs, H] -> [pairs, H].
    fn segment_max(&self, values: Tensor<2>) -> Tensor<2> {
        let widen = |top: Tensor<2>, jump: &Tensor<1, Int>| top.clone().max_pair(top.select(0, jump.clone()));
        self.jumps.iter().fold(values, widen).select(0, self.first.clone())
    }

    /// The sum over the pairs of each query. Shapes: [pairs, W] -> [T, W].
    fn segment_sum(&self, values: Tensor<2>) -> Tensor<2> {
        let [_, width] = values.dims();
        let zeros = Tensor::zeros([self.n_rows(), width], &values.device());
        zeros.select_assign(0, self.query.clone(), values, IndexingUpdateOp::Add)
    }
}

/// Multi-head self-attention of T rows on a packed projection, each over its own list of keys.
///
/// `softmax over k in lists(q) of (Q_q K_k / sqrt(D/H))`, times V, for every head, dropout on the weights. The same as
/// [`kernel::attention`](crate::kernel::attention) under a mask that allows exactly those pairs, at a cost in proportion to
/// their number.
///
/// # Shapes
///
/// - qkv: [T, 3D], queries, keys, values side by side, each head after head
/// - output: [T, D]
///
/// # Panics
///
/// If the shapes do not fit together.
pub fn sparse_attention(qkv: Tensor<2>, lists: &PairLists, n_heads: usize, dropout: Dropout) -> Tensor<2> {
    let ([rows, width], pairs) = (qkv.dims(), lists.n_pairs());
    let d = width / 3;
    assert!(rows == lists.n_rows(), "{rows} rows, and lists for {}", lists.n_rows());
    assert!(width == 3 * d && d.is_multiple_of(n_heads), "packed projection of width {width} for {n_heads} heads");
    let d_head = d / n_heads;
    let columns = |part: usize| qkv.clone().slice([0..rows, part * d..(part + 1) * d]);
    let q = columns(0).select(0, lists.query.clone()); // [pairs, D]
    let k = columns(1).select(0, lists.key.clone());
    let v = columns(2).select(0, lists.key.clone());
    let scores = (q * k).reshape([pairs * n_heads, d_head]).sum_dim(1).reshape([pairs, n_heads]);
    let scores = scores * (1.0 / (d_head as f64).sqrt());
    let top = lists.segment_max(scores.clone().detach());
    let weights = (scores - top).exp();
    let total = lists.segment_sum(weights.clone()).select(0, lists.query.clone());
    let weights = dropout.apply(0, weights / total);
    let weighted = v.reshape([pairs, n_heads, d_head]) * weights.reshape([pairs, n_heads, 1]);
    lists.segment_sum(weighted.reshape([pairs, d]))
}
