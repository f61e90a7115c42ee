//! Attention under a mask, over a chunk of graphs of equal size: the case of small graphs.
//!
//! [`Geometry`] describes the chunk and chooses between [`lanes`], for small graphs, and [`matrices`], for any. [`few_queries`] serves
//! generation, which asks one query at a time. [`whole_batch`] is attention by itself.

mod few_queries;
mod lanes;
mod matrices;
mod whole_batch;

pub(crate) use whole_batch::{AttentionOp, AttentionShape};

use crate::kernel::dropout::Site;
use crate::kernel::fused::attention::gather::Gather;
use crate::kernel::fused::attention::order::{Order, has_lanes};
use crate::kernel::{MASKED, PENALISED};

/// Graphs of up to this many nodes have their heads as lanes; for larger ones the matrix product is worth its setup.
pub(crate) const MAX_LANE_NODES: usize = 32;

/// Up to this many weights per graph and head are kept for backward; more are computed again.
const MAX_KEPT_WEIGHTS: usize = 128 * 128;

/// A [rows, D] matrix inside a wider one: the queries, keys or values of a packed projection.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) data: &'a [f32],
    pub(crate) stride: usize,
    pub(crate) offset: usize,
}

impl<'a> Rows<'a> {
    /// Queries, keys and values inside packed projections: qkv [rows, 3D], or q [rows, D] and kv [key rows, 2D].
    pub(crate) fn of_packed(q: &'a [f32], kv: Option<&'a [f32]>, d: usize) -> [Self; 3] {
        match kv {
            Some(kv) => {
                let part = |offset| Rows { data: kv, stride: 2 * d, offset };
                [Rows { data: q, stride: d, offset: 0 }, part(0), part(d)]
            }
            None => [0, d, 2 * d].map(|offset| Rows { data: q, stride: 3 * d, offset }),
        }
    }

    /// The rows `first + place` for every place.
    #[inline(always)]
    pub(crate) fn gather(&self, places: &'a [u32], first: usize) -> Gather<'a, u32> {
        Gather { places, data: &self.data[first * self.stride + self.offset..], stride: self.stride, origin: 0 }
    }

    /// Row `row`, `[D]`.
    #[inline(always)]
    pub(crate) fn row(&self, row: usize, d: usize) -> &'a [f32] {
        &self.data[row * self.stride + self.offset..][..d]
    }
}

/// Where the gradients of queries, keys and values go: one packed buffer, or one for queries and one for the rest.
pub(crate) struct Grads<'a> {
    /// [rows, 3D] if `kv` is `None`, else [rows, D].
    pub(crate) q: &'a mut [f32],
    /// [key rows, 2D].
    pub(crate) kv: Option<&'a mut [f32]>,
    /// D.
    pub(crate) d: usize,
}

impl Grads<'_> {
    /// Sets all to zero, for kernels that add.
    pub(crate) fn clear(&mut self) {
        self.q.fill(0.0);
        if let Some(kv) = &mut self.kv {
            kv.fill(0.0);
        }
    }

    /// The queries from this row and column on, and the distance between rows.
    #[inline(always)]
    pub(crate) fn queries(&mut self, row: usize, column: usize) -> (&mut [f32], usize) {
        let stride = if self.kv.is_some() { self.d } else { 3 * self.d };
        (&mut self.q[row * stride + column..], stride)
    }

    /// The keys, likewise.
    #[inline(always)]
    pub(crate) fn keys(&mut self, row: usize, column: usize) -> (&mut [f32], usize) {
        self.packed(1, row, column)
    }

    /// The values, likewise.
    #[inline(always)]
    pub(crate) fn values(&mut self, row: usize, column: usize) -> (&mut [f32], usize) {
        self.packed(2, row, column)
    }

    #[inline(always)]
    fn packed(&mut self, part: usize, row: usize, column: usize) -> (&mut [f32], usize) {
        let d = self.d;
        match &mut self.kv {
            Some(kv) => (&mut kv[row * 2 * d + (part - 1) * d + column..], 2 * d),
            None => (&mut self.q[row * 3 * d + part * d + column..], 3 * d),
        }
    }
}

/// Sizes, mask and dropout of the attention of one chunk of graphs.
pub(crate) struct Geometry<'a> {
    /// Index in the batch of the first graph of the chunk.
    pub(crate) first: usize,
    pub(crate) graphs: usize,
    /// Queries per graph.
    pub(crate) n: usize,
    /// Keys per graph.
    pub(crate) m: usize,
    pub(crate) d: usize,
    pub(crate) n_heads: usize,
    /// 1 / sqrt(D/H).
    pub(crate) scale: f32,
    /// [B, N, M] of the whole batch.
    pub(crate) bias: Option<&'a [f32]>,
    pub(crate) site: Site,
    pub(crate) order: Order,
}

impl Geometry<'_> {
    /// The order of columns that suits N queries and M keys.
    pub(crate) fn order(n_heads: usize, n: usize, m: usize) -> Order {
        if n.max(m) <= MAX_LANE_NODES && has_lanes(n_heads) { Order::Lanes } else { Order::Heads }
    }

    /// How many weights are kept for backward: 0 if it computes them again.
    pub(crate) fn n_weights(&self) -> usize {
        let keep = self.order == Order::Lanes || self.n * self.m <= MAX_KEPT_WEIGHTS;
        if keep { self.graphs * self.n_heads * self.n * self.m } else { 0 }
    }

    /// All (graph, head) pairs of the chunk.
    pub(crate) fn graph_heads(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let n_heads = self.n_heads;
        (0..self.graphs).flat_map(move |graph| (0..n_heads).map(move |head| (graph, head)))
    }

    /// The bias of query i of a graph of the chunk, `[M]`.
    #[inline(always)]
    pub(crate) fn bias_row(&self, graph: usize, i: usize) -> Option<&[f32]> {
        let start = ((self.first + graph) * self.n + i) * self.m;
        self.bias.map(|bias| &bias[start..start + self.m])
    }

    /// The dropout counter of head 0 of a weight; heads are adjacent.
    #[inline(always)]
    pub(crate) fn weight_index(&self, graph: usize, i: usize, j: usize) -> u32 {
        ((((self.first + graph) * self.n + i) * self.m + j) * self.n_heads) as u32
    }

    /// What a dot product is multiplied by under this bias: 0 if a penalty replaces the score.
    #[inline(always)]
    pub(crate) fn score_scale(&self, bias: f32) -> f32 {
        if bias > PENALISED { self.scale } else { 0.0 }
    }

    /// The keys that query i may look at, in order, and its bias if that does more than forbid. Without branches, because masks
    /// are unpredictable.
    #[inline(always)]
    pub(crate) fn allowed(&self, graph: usize, i: usize, keys: &mut Vec<u32>) -> Option<&[f32]> {
        let Some(row) = self.bias_row(graph, i) else {
            keys.clear();
            keys.extend(0..self.m as u32);
            return None;
        };
        keys.resize(row.len(), 0);
        let (mut count, mut weighted) = (0, false);
        for (j, &bias) in row.iter().enumerate() {
            keys[count] = j as u32;
            count += usize::from(bias > MASKED);
            weighted |= (bias > MASKED) & (bias != 0.0);
        }
        keys.truncate(count);
        weighted.then_some(row)
    }

    /// Attention of the chunk: `weights` of length [`Geometry::n_weights`], `out` [graphs * N, D].
    pub(crate) fn forward(&self, qkv: [Rows<'_>; 3], weights: &mut [f32], out: &mut [f32], scratch: &mut Scratch) {
        match self.order {
            Order::Lanes => lanes::forward(self, qkv, weights, out, &mut scratch.lanes),
            Order::Heads => matrices::forward(self, qkv, weights, out, &mut scratch.matrices),
        }
    }

    /// The gradients of [`Geometry::forward`], overwriting `grads`.
    pub(crate) fn backward(
        &self,
        qkv: [Rows<'_>; 3],
        weights: &[f32],
        dout: &[f32],
        grads: &mut Grads<'_>,
        scratch: &mut Scratch,
    ) {
        match self.order {
            Order::Lanes => lanes::backward(self, qkv, weights, dout, grads, &mut scratch.lanes),
            Order::Heads => matrices::backward(self, qkv, weights, dout, grads, &mut scratch.matrices),
        }
    }
}

/// Buffers of one thread.
#[derive(Default)]
pub(crate) struct Scratch {
    matrices: matrices::Scratch,
    lanes: lanes::Scratch,
    /// The gradients of one row's weights.
    pub(crate) slope: Vec<f32>,
}
