//! Attention over a block of graphs: the geometry, the choice between the two algorithms, and the column orders.

use super::simd::multiversion;
use super::{heads, lanes};
use crate::kernel::dropout::Site;
use crate::kernel::{MASKED, PENALISED};

/// Graphs up to this many nodes go head-per-lane; beyond it the matrix product is worth its setup.
pub(crate) const MAX_LANE_NODES: usize = 32;

/// Weights of one head up to this many per graph are kept for backward; larger ones are computed again.
const MAX_KEPT_WEIGHTS: usize = 128 * 128;

/// The order of the D columns of queries, keys and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// (position in head, head): for [`lanes`].
    Lanes,
    /// (head, position in head): the usual one, for [`heads`].
    Heads,
}

impl Order {
    /// The order that suits N queries and M keys.
    pub(crate) fn choose(n_heads: usize, n: usize, m: usize) -> Self {
        if n.max(m) <= MAX_LANE_NODES && has_lanes(n_heads) { Self::Lanes } else { Self::Heads }
    }

    /// Moves every run of D values from the usual order to this one.
    pub(crate) fn arrange(self, values: &[f32], d: usize, n_heads: usize) -> Vec<f32> {
        match self {
            Self::Heads => values.to_vec(),
            Self::Lanes => transpose_runs(values, d, n_heads),
        }
    }

    /// The inverse of [`Order::arrange`].
    pub(crate) fn restore(self, values: &[f32], d: usize, n_heads: usize) -> Vec<f32> {
        match self {
            Self::Heads => values.to_vec(),
            Self::Lanes => transpose_runs(values, d, d / n_heads),
        }
    }
}

/// Whether so many heads fill the lanes of a vector.
pub(crate) fn has_lanes(n_heads: usize) -> bool {
    matches!(n_heads, 4 | 8 | 16)
}

/// Each run of d values, read as [rows, d / rows], transposed.
fn transpose_runs(values: &[f32], d: usize, rows: usize) -> Vec<f32> {
    let mut out = vec![0.0; values.len()];
    for (out, run) in out.chunks_exact_mut(d).zip(values.chunks_exact(d)) {
        match (rows, d / rows) {
            // Known bounds make it a handful of shuffles; this runs on all weights, twice a step.
            (8, 8) => transpose(out, run, 8, 8),
            (rows, columns) => transpose(out, run, rows, columns),
        }
    }
    out
}

#[inline(always)]
fn transpose(out: &mut [f32], run: &[f32], rows: usize, columns: usize) {
    let (out, run) = (&mut out[..rows * columns], &run[..rows * columns]);
    for column in 0..columns {
        for row in 0..rows {
            out[column * rows + row] = run[row * columns + column];
        }
    }
}

/// A [rows, D] matrix inside a wider one: the queries, keys or values of a packed projection.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) data: &'a [f32],
    pub(crate) stride: usize,
    pub(crate) offset: usize,
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
    /// All zero, for those who add.
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

/// Sizes, mask and dropout of the attention of one block of graphs.
pub(crate) struct Geometry<'a> {
    /// Index in the batch of the first graph of the block.
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
    /// How many weights to keep for backward: none if they are to be computed again.
    pub(crate) fn n_weights(&self) -> usize {
        let keep = self.order == Order::Lanes || self.n * self.m <= MAX_KEPT_WEIGHTS;
        if keep { self.graphs * self.n_heads * self.n * self.m } else { 0 }
    }

    /// All (graph, head) pairs of the block.
    pub(crate) fn graph_heads(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let n_heads = self.n_heads;
        (0..self.graphs).flat_map(move |graph| (0..n_heads).map(move |head| (graph, head)))
    }

    /// The bias of query i of a graph of the block, `[M]`.
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

    /// What a dot product is multiplied by under this bias: 0 where a penalty replaces the score.
    #[inline(always)]
    pub(crate) fn score_scale(&self, bias: f32) -> f32 {
        if bias > PENALISED { self.scale } else { 0.0 }
    }

    /// The keys query i may look at, in order, and its bias. Without branches, for masks are unpredictable.
    #[inline(always)]
    pub(crate) fn allowed(&self, graph: usize, i: usize, keys: &mut Vec<usize>) -> Option<&[f32]> {
        let row = self.bias_row(graph, i);
        match row {
            None => {
                keys.clear();
                keys.extend(0..self.m);
            }
            Some(row) => {
                keys.resize(row.len(), 0);
                let mut count = 0;
                for (j, &bias) in row.iter().enumerate() {
                    keys[count] = j;
                    count += usize::from(bias > MASKED);
                }
                keys.truncate(count);
            }
        }
        row
    }

    /// Attention of the block: `weights` of length [`Geometry::n_weights`], `out` [graphs * N, D].
    pub(crate) fn forward(&self, qkv: [Rows<'_>; 3], weights: &mut [f32], out: &mut [f32], scratch: &mut Scratch) {
        match self.order {
            Order::Lanes => lanes_forward(self, qkv, weights, out, &mut scratch.allowed),
            Order::Heads => heads::forward(self, qkv, weights, out, &mut scratch.heads),
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
            Order::Lanes => {
                lanes_backward(self, qkv, weights, dout, grads, &mut scratch.allowed, &mut scratch.slope);
            }
            Order::Heads => heads::backward(self, qkv, weights, dout, grads, &mut scratch.heads),
        }
    }
}

/// Buffers of one thread.
#[derive(Default)]
pub(crate) struct Scratch {
    heads: heads::Scratch,
    allowed: Vec<usize>,
    /// The gradients of one row's weights.
    pub(crate) slope: Vec<f32>,
}

multiversion! {
    /// [`lanes::forward`] for the number of heads at hand.
    fn lanes_forward(
        g: &Geometry<'_>,
        qkv: [Rows<'_>; 3],
        weights: &mut [f32],
        out: &mut [f32],
        allowed: &mut Vec<usize>,
    ) = lanes_forward_body
}

#[inline(always)]
fn lanes_forward_body<const FMA: bool>(
    g: &Geometry<'_>,
    qkv: [Rows<'_>; 3],
    weights: &mut [f32],
    out: &mut [f32],
    allowed: &mut Vec<usize>,
) {
    // PACE runs 8 heads of 8: with the loop bounds known, a row of output stays in registers.
    match (g.n_heads, g.d / g.n_heads) {
        (8, 8) => lanes::forward::<8, FMA>(g, 8, qkv, weights, out, allowed),
        (8, d_head) => lanes::forward::<8, FMA>(g, d_head, qkv, weights, out, allowed),
        (4, d_head) => lanes::forward::<4, FMA>(g, d_head, qkv, weights, out, allowed),
        (16, d_head) => lanes::forward::<16, FMA>(g, d_head, qkv, weights, out, allowed),
        (n_heads, _) => unreachable!("{n_heads} heads have no lane kernel"),
    }
}

multiversion! {
    /// [`lanes::backward`] for the number of heads at hand.
    fn lanes_backward(
        g: &Geometry<'_>,
        qkv: [Rows<'_>; 3],
        weights: &[f32],
        dout: &[f32],
        grads: &mut Grads<'_>,
        allowed: &mut Vec<usize>,
        slope: &mut Vec<f32>,
    ) = lanes_backward_body
}

#[inline(always)]
fn lanes_backward_body<const FMA: bool>(
    g: &Geometry<'_>,
    qkv: [Rows<'_>; 3],
    weights: &[f32],
    dout: &[f32],
    grads: &mut Grads<'_>,
    allowed: &mut Vec<usize>,
    slope: &mut Vec<f32>,
) {
    match (g.n_heads, g.d / g.n_heads) {
        (8, 8) => lanes::backward::<8, FMA>(g, 8, qkv, weights, dout, grads, allowed, slope),
        (8, d_head) => lanes::backward::<8, FMA>(g, d_head, qkv, weights, dout, grads, allowed, slope),
        (4, d_head) => lanes::backward::<4, FMA>(g, d_head, qkv, weights, dout, grads, allowed, slope),
        (16, d_head) => lanes::backward::<16, FMA>(g, d_head, qkv, weights, dout, grads, allowed, slope),
        (n_heads, _) => unreachable!("{n_heads} heads have no lane kernel"),
    }
}
