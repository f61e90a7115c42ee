//! Attention along lists by itself, over all rows of a batch: for models that build their own blocks.

use std::sync::Arc;

use rayon::prelude::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::{Backward, Sparse, backward, forward, groups};
use crate::kernel::dropout::Site;
use crate::kernel::fused::attention::Packed;
use crate::kernel::fused::attention::order::Order;
use crate::kernel::fused::autodiff::{Op, Primitive, gradient, primitive, values};
use crate::kernel::fused::block::Chunk;
use crate::kernel::fused::block::cut::by_group;
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::pair_lists::Lists;

/// The sizes of attention by itself, over all rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SparseShape {
    pub(crate) d: usize,
    pub(crate) n_heads: usize,
    pub(crate) site: Site,
}

impl SparseShape {
    fn chunk<'a>(&self, lists: &'a Lists, group: &[Chunk]) -> Sparse<'a> {
        let rows = group.iter().map(|chunk| chunk.graphs).sum();
        let Self { d, n_heads, site } = *self;
        let (origin, order) = (group[0].first, Order::Heads);
        Sparse { lists, origin, first: origin, rows, d, n_heads, site, order }
    }

    /// qkv [T, 3D] -> [T, D], and the weights per group.
    pub(crate) fn forward(&self, lists: &Lists, qkv: &[f32]) -> (Vec<f32>, Vec<Buffer>) {
        let (d, groups) = (self.d, groups(lists, 0));
        let mut out = vec![0.0; lists.n_rows() * d];
        let parts = groups.par_iter().zip(by_group(&mut out, &groups, d));
        let weights = parts.map(|(group, out)| {
            let s = self.chunk(lists, group);
            let mut weights = Buffer::stale(s.n_weights());
            forward(&s, &qkv[s.first * 3 * d..][..s.rows * 3 * d], &mut weights, out);
            weights
        });
        let weights = weights.collect();
        (out, weights)
    }

    /// The gradient of qkv, [T, 3D].
    pub(crate) fn backward(&self, lists: &Lists, qkv: &[f32], weights: &[Buffer], dout: &[f32]) -> Vec<f32> {
        let (d, groups) = (self.d, groups(lists, 0));
        let mut dqkv = vec![0.0; qkv.len()];
        let parts = groups.par_iter().zip(weights).zip(by_group(&mut dqkv, &groups, 3 * d));
        parts.for_each(|((group, weights), dqkv)| {
            let s = self.chunk(lists, group);
            let (qkv, dout) = (&qkv[s.first * 3 * d..][..s.rows * 3 * d], &dout[s.first * d..][..s.rows * d]);
            backward(&s, Backward { qkv, weights, dout }, dqkv, &mut Vec::new());
        });
        dqkv
    }
}

/// Attention along lists as Burn sees it.
#[derive(Clone, Debug)]
pub(crate) struct SparseOp {
    pub(crate) lists: Arc<Lists>,
    pub(crate) shape: SparseShape,
}

impl Op for SparseOp {
    /// qkv alone.
    type Inputs<T> = Packed<T>;
    type Kept = Vec<Buffer>;

    fn named<T>(&self, list: &mut impl Iterator<Item = T>) -> Packed<T> {
        Packed::take(list)
    }

    fn listed<T>(inputs: Packed<T>) -> Vec<T> {
        inputs.list()
    }

    fn forward(&self, inputs: Packed<&Primitive>, _keep: bool) -> (Primitive, Vec<Buffer>) {
        let (y, weights) = self.shape.forward(&self.lists, values(inputs.q));
        (primitive(y, [self.lists.n_rows(), self.shape.d]), weights)
    }

    fn backward(&self, inputs: Packed<&Primitive>, kept: &Vec<Buffer>, dy: &[f32]) -> Packed<Primitive> {
        Packed { q: gradient(self.shape.backward(&self.lists, values(inputs.q), kept, dy)), kv: None }
    }
}
