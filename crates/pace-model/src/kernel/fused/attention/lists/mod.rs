//! Attention along lists of keys, on a block of the rows between two seams of the lists: a gather, never a copy.
//!
//! The work is in proportion to the pairs; on trees it is a few percent of the linear maps around it.

pub(crate) mod inference;

use rayon::prelude::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::kernel::dropout::Site;
use crate::kernel::fused::attention::gather::{Gather, Place, Terms};
use crate::kernel::fused::attention::order::{ByHead, ByLane, Heads, Order};
use crate::kernel::fused::attention::softmax::{softmax, softmax_grad};
use crate::kernel::fused::block::stack::{Cut, by_group};
use crate::kernel::fused::block::sublayer::Block;
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::products::{Finish, Mat, PLAIN, Panels};
use crate::kernel::fused::simd::{LANES, Simd, kernel, map};
use crate::kernel::pair_lists::{Lists, Reader};

/// Sizes, lists and dropout of the attention of one block of rows.
#[derive(Clone, Copy)]
pub(crate) struct Sparse<'a> {
    pub(crate) lists: &'a Lists,
    /// Where the rows between the seams around the block begin: projections are those of all these rows, because any of
    /// them may be read. Dropout counts from the first pair of all.
    pub(crate) origin: usize,
    /// First row of the block.
    pub(crate) first: usize,
    pub(crate) rows: usize,
    pub(crate) d: usize,
    pub(crate) n_heads: usize,
    pub(crate) site: Site,
    /// Of the columns of queries, keys and values.
    pub(crate) order: Order,
}

impl Sparse<'_> {
    /// How many weights forward keeps: [pairs of the block, H].
    pub(crate) fn n_weights(&self) -> usize {
        (self.lists.pair(self.first + self.rows) - self.lists.pair(self.first)) * self.n_heads
    }

    /// 1 / sqrt(D/H).
    #[inline(always)]
    fn scale(&self) -> f32 {
        1.0 / ((self.d / self.n_heads) as f32).sqrt()
    }

    /// Rows that a row of the block reads, and the place of their weights among those of the block.
    #[inline(always)]
    fn keys(&self, row: usize) -> (&[u32], usize) {
        let pair = self.lists.pair(self.first + row);
        (self.lists.keys(self.first + row), (pair - self.lists.pair(self.first)) * self.n_heads)
    }

    /// Queries (0), keys (1) or values (2) of some rows of all, from the packed projections since the origin.
    #[inline(always)]
    fn part<'q, P: Place>(&self, qkv: &'q [f32], places: &'q [P], part: usize, d: usize) -> Gather<'q, P> {
        Gather { places, data: &qkv[part * d..], stride: 3 * d, origin: self.origin }
    }
}

impl Place for Reader {
    #[inline(always)]
    fn row(self) -> usize {
        self.query as usize
    }

    #[inline(always)]
    fn weight(self, _: usize) -> usize {
        self.pair as usize
    }
}

/// The groups of blocks of packed rows: as even as the seams allow, each between two of them.
///
/// The lists and D alone decide, not the number of threads.
pub(crate) fn groups(lists: &Lists, d: usize) -> Vec<Vec<Block>> {
    let rows = lists.n_rows();
    let cut = Cut::new(rows, 1, d);
    let mut groups = vec![Vec::new(); rows.div_ceil(cut.group)];
    for seam in lists.seams().windows(2) {
        let (first, end) = (seam[0] as usize, seam[1] as usize);
        let blocks = &mut groups[(first + end) / 2 / cut.group];
        match blocks.last_mut() {
            Some(Block { graphs, .. }) if *graphs + (end - first) / 2 <= cut.block => *graphs += end - first,
            _ => blocks.push(Block { first, graphs: end - first }),
        }
    }
    groups.retain(|blocks| !blocks.is_empty());
    groups
}

/// The sizes of attention by itself, over all rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SparseShape {
    pub(crate) d: usize,
    pub(crate) n_heads: usize,
    pub(crate) site: Site,
}

impl SparseShape {
    fn block<'a>(&self, lists: &'a Lists, group: &[Block]) -> Sparse<'a> {
        let rows = group.iter().map(|block| block.graphs).sum();
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
            let s = self.block(lists, group);
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
            let s = self.block(lists, group);
            let (qkv, dout) = (&qkv[s.first * 3 * d..][..s.rows * 3 * d], &dout[s.first * d..][..s.rows * d]);
            backward(&s, qkv, weights, dout, dqkv, &mut Vec::new());
        });
        dqkv
    }
}

/// The packed projection, laid out: queries apart from keys and values.
pub(crate) struct Projection {
    queries: Panels,
    keys_values: Panels,
}

impl Projection {
    /// Of a weight [D, 3D].
    pub(crate) fn new(weight: &[f32], d: usize) -> Self {
        let columns = |first: usize, n: usize| Panels::of(Mat::new(&weight[first..], 3 * d), d, n);
        Self { queries: columns(0, d), keys_values: columns(d, 2 * d) }
    }
}

/// The packed projection of the rows of a block: x [rows, D] -> `qkv` [rows, 3D].
///
/// A row with a single key gives it all of its attention, whatever its query, and leaves are half of a tree: queries are
/// computed for the other rows only. Those of single keys are zeros, which backward multiplies by a gradient of 0.
pub(crate) fn project(s: &Sparse<'_>, x: &[f32], weight: &Projection, bias: &[f32], qkv: &mut [f32]) {
    let d = s.d;
    let asking: Vec<usize> = (0..s.rows).filter(|row| s.keys(*row).0.len() > 1).collect();
    weight.keys_values.product(x, &mut qkv[d..], 3 * d, Finish { bias: &bias[d..], ..PLAIN });
    let (mut own, mut q) = (Buffer::stale(asking.len() * d), Buffer::stale(asking.len() * d));
    for (own, &row) in own.chunks_exact_mut(d).zip(&asking) {
        own.copy_from_slice(&x[row * d..][..d]);
    }
    weight.queries.product(&own, &mut q, d, Finish { bias: &bias[..d], ..PLAIN });
    let mut asked = asking.iter().zip(q.chunks_exact(d)).peekable();
    for (row, packed) in qkv.chunks_exact_mut(3 * d).enumerate() {
        match asked.next_if(|(asking, _)| **asking == row) {
            Some((_, q)) => packed[..d].copy_from_slice(q),
            None => packed[..d].fill(0.0),
        }
    }
}

/// Calls a kernel with the heads in their order, and D. With the sizes known, a row stays in registers.
macro_rules! with_heads {
    ($a:ident, |$heads:ident, $d:ident| $call:expr) => {{
        macro_rules! call {
            ($order:expr, $size:expr) => {{
                let ($heads, $d) = ($order, $size);
                $call
            }};
        }
        match ($a.order, $a.n_heads, $a.d) {
            (Order::Lanes, 8, 256) => call!(ByLane::<8>, 256),
            (Order::Lanes, 8, d) => call!(ByLane::<8>, d),
            (Order::Lanes, 4, d) => call!(ByLane::<4>, d),
            (Order::Lanes, _, d) => call!(ByLane::<16>, d),
            (Order::Heads, n_heads, d) => call!(ByHead { n_heads, d_head: d / n_heads }, d),
        }
    }};
}

kernel! {
    /// Forward. `qkv` [rows since the origin, 3D] -> `out` [rows, D]; `weights` [pairs, H] receives the softmax, negated where
    /// dropout drops it, so that backward reads both from one number.
    fn forward(a: &Sparse<'_>, qkv: &[f32], weights: &mut [f32], out: &mut [f32]) = forward_body
}

#[inline(always)]
fn forward_body<S: Simd>(s: S, a: &Sparse<'_>, qkv: &[f32], weights: &mut [f32], out: &mut [f32]) {
    with_heads!(a, |heads, d| forward_of(s, a, heads, d, qkv, weights, out));
}

#[inline(always)]
fn forward_of<S: Simd, H: Heads<S>>(
    s: S,
    a: &Sparse<'_>,
    heads: H,
    d: usize,
    qkv: &[f32],
    weights: &mut [f32],
    out: &mut [f32],
) {
    let (n_heads, scale, keep_scale) = (heads.n_heads(), a.scale(), a.site.kept_scale());
    for (row, out) in out.chunks_exact_mut(d).enumerate() {
        let (keys, at) = a.keys(row);
        let w = &mut weights[at..at + keys.len() * n_heads];
        if keys.len() == 1 {
            // A leaf looks at itself alone, and leaves are half of a tree.
            w.fill(1.0);
        } else {
            let q = &qkv[3 * (a.first + row - a.origin) * d..][..d];
            heads.scores(s, w, q, a.part(qkv, keys, 1, d), scale);
            softmax(s, w, n_heads);
        }
        if a.site.is_on() {
            let first = a.lists.pair(a.first + row) * n_heads;
            map!(s, w, [], |at, w, []| {
                let keep = a.site.keep_lanes(s, s.count((first + at) as u32, 1, LANES as u32));
                s.select(keep, w, s.sub(s.zero(), w))
            });
        }
        let values = Terms { rows: a.part(qkv, keys, 2, d), weights: w, first: 0 };
        heads.mix::<_, true>(s, out, values, keep_scale);
    }
}

/// Backward of a block that ends at both seams: `dout` [rows, D] -> `dqkv` [rows, 3D]; `dscores` is scratch.
pub(crate) fn backward(
    a: &Sparse<'_>,
    qkv: &[f32],
    weights: &[f32],
    dout: &[f32],
    dqkv: &mut [f32],
    dscores: &mut Vec<f32>,
) {
    dscores.resize(weights.len(), 0.0);
    backward_queries(a, qkv, weights, dout, dscores, dqkv);
    backward_keys(a, qkv, weights, dout, dscores, dqkv);
}

kernel! {
    /// The queries' side of backward, from the weights [`forward`] kept: `weights` and `dscores` [pairs, H] and `dout`
    /// [rows, D] of the block -> `dscores`, and the queries' third of the block's `dqkv` [rows, 3D].
    ///
    /// With dw_k = dout V_k where dropout keeps k, else 0: ds_k = w_k (dw_k - sum_j w_j dw_j) / sqrt(D/H);
    /// dQ_q = sum_k ds_k K_k.
    fn backward_queries(
        a: &Sparse<'_>,
        qkv: &[f32],
        weights: &[f32],
        dout: &[f32],
        dscores: &mut [f32],
        dqkv: &mut [f32],
    ) = queries_body
}

#[inline(always)]
fn queries_body<S: Simd>(
    s: S,
    a: &Sparse<'_>,
    qkv: &[f32],
    weights: &[f32],
    dout: &[f32],
    dscores: &mut [f32],
    dqkv: &mut [f32],
) {
    with_heads!(a, |heads, d| queries_of(s, a, heads, d, qkv, weights, dout, dscores, dqkv));
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn queries_of<S: Simd, H: Heads<S>>(
    s: S,
    a: &Sparse<'_>,
    heads: H,
    d: usize,
    qkv: &[f32],
    weights: &[f32],
    dout: &[f32],
    dscores: &mut [f32],
    dqkv: &mut [f32],
) {
    let (n_heads, scale, keep_scale) = (heads.n_heads(), a.scale(), a.site.kept_scale());
    for (row, (dout, dqkv)) in dout.chunks_exact(d).zip(dqkv.chunks_exact_mut(3 * d)).enumerate() {
        let (keys, at) = a.keys(row);
        let w = &weights[at..at + keys.len() * n_heads];
        let ds = &mut dscores[at..at + keys.len() * n_heads];
        heads.scores(s, ds, dout, a.part(qkv, keys, 2, d), 1.0);
        softmax_grad(s, ds, w, n_heads, keep_scale, scale);
        let keys = Terms { rows: a.part(qkv, keys, 1, d), weights: ds, first: 0 };
        heads.mix::<_, false>(s, &mut dqkv[..d], keys, 1.0);
    }
}

kernel! {
    /// The keys' side of backward: `weights` and `dscores` [pairs, H] and `dout` [rows, D] of all rows since the origin
    /// -> the other two thirds of the block's `dqkv` [rows, 3D].
    ///
    /// dK_k = sum_q ds_qk Q_q and dV_k = sum_q drop(w_qk) dout_q, over the queries that read k, in order.
    fn backward_keys(
        a: &Sparse<'_>,
        qkv: &[f32],
        weights: &[f32],
        dout: &[f32],
        dscores: &[f32],
        dqkv: &mut [f32],
    ) = keys_body
}

#[inline(always)]
fn keys_body<S: Simd>(
    s: S,
    a: &Sparse<'_>,
    qkv: &[f32],
    weights: &[f32],
    dout: &[f32],
    dscores: &[f32],
    dqkv: &mut [f32],
) {
    with_heads!(a, |heads, d| keys_of(s, a, heads, d, qkv, weights, dout, dscores, dqkv));
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn keys_of<S: Simd, H: Heads<S>>(
    s: S,
    a: &Sparse<'_>,
    heads: H,
    d: usize,
    qkv: &[f32],
    weights: &[f32],
    dout: &[f32],
    dscores: &[f32],
    dqkv: &mut [f32],
) {
    let (first, readers) = (a.lists.pair(a.origin), a.lists.readers());
    for (row, dqkv) in dqkv.chunks_exact_mut(3 * d).enumerate() {
        let (dk, dv) = dqkv[d..].split_at_mut(d);
        let readers = readers.of(a.first + row);
        let queries = Terms { rows: a.part(qkv, readers, 0, d), weights: dscores, first };
        heads.mix::<_, false>(s, dk, queries, 1.0);
        let rows = Gather { places: readers, data: dout, stride: d, origin: a.origin };
        heads.mix::<_, true>(s, dv, Terms { rows, weights, first }, a.site.kept_scale());
    }
}
