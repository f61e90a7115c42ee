//! Attention along lists of keys, on a block of the rows between two seams of the lists: a gather, never a copy.
//!
//! Columns keep their usual order (head, position in head). A pair costs H short products, so that the work is in
//! proportion to the pairs; on trees it is a few percent of the linear maps around it.

use rayon::prelude::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::linear::{Into, Mat, product};
use super::pairwise::{add_scaled, dots, softmax, softmax_grad};
use super::pool::Buffer;
use super::simd::multiversion;
use super::stack::{Cut, by_group};
use super::sublayer::Block;
use crate::kernel::dropout::Site;
use crate::kernel::pairs::Lists;

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

    /// Queries (0), keys (1) or values (2) of a row of all, from the packed projections since the origin.
    #[inline(always)]
    fn part<'q>(&self, qkv: &'q [f32], row: usize, part: usize, d: usize) -> &'q [f32] {
        &qkv[(3 * (row - self.origin) + part) * d..][..d]
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
        Sparse { lists, origin: group[0].first, first: group[0].first, rows, d, n_heads, site }
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

/// The packed projection of the rows of a block: x [rows, D] -> `qkv` [rows, 3D].
///
/// A row with a single key gives it all of its attention, whatever its query, and leaves are half of a tree: queries are
/// computed for the other rows only. Those of single keys are zeros, which backward multiplies by a gradient of 0.
pub(crate) fn project(s: &Sparse<'_>, x: &[f32], weight: &[f32], bias: &[f32], qkv: &mut [f32]) {
    let d = s.d;
    let asking: Vec<usize> = (0..s.rows).filter(|row| s.keys(*row).0.len() > 1).collect();
    for packed in qkv.chunks_exact_mut(3 * d) {
        packed[..d].fill(0.0);
        packed[d..].copy_from_slice(&bias[d..]);
    }
    let keys = Mat::new(&weight[d..], 3 * d);
    product([s.rows, d, 2 * d], &mut qkv[d..], 3 * d, Into::Add, Mat::new(x, d), keys, 1.0);
    let (mut own, mut q) = (Buffer::stale(asking.len() * d), Buffer::stale(asking.len() * d));
    for ((own, q), &row) in own.chunks_exact_mut(d).zip(q.chunks_exact_mut(d)).zip(&asking) {
        own.copy_from_slice(&x[row * d..][..d]);
        q.copy_from_slice(&bias[..d]);
    }
    product([asking.len(), d, d], &mut q, d, Into::Add, Mat::new(&own, d), Mat::new(weight, 3 * d), 1.0);
    for (q, &row) in q.chunks_exact(d).zip(&asking) {
        qkv[row * 3 * d..][..d].copy_from_slice(q);
    }
}

multiversion! {
    /// Forward. `qkv` [rows since the origin, 3D] -> `out` [rows, D]; `weights` [pairs, H] receives the softmax, negated where dropout drops
    /// it, so that backward reads both from one number.
    fn forward(s: &Sparse<'_>, qkv: &[f32], weights: &mut [f32], out: &mut [f32]) = forward_body
}

#[inline(always)]
fn forward_body<const FMA: bool>(s: &Sparse<'_>, qkv: &[f32], weights: &mut [f32], out: &mut [f32]) {
    // With the sizes known, a head stays in registers.
    match (s.d / s.n_heads, s.n_heads) {
        (32, 8) => forward_of::<FMA>(s, [32, 8], qkv, weights, out),
        (d_head, n_heads) => forward_of::<FMA>(s, [d_head, n_heads], qkv, weights, out),
    }
}

#[inline(always)]
fn forward_of<const FMA: bool>(
    s: &Sparse<'_>,
    [d_head, n_heads]: [usize; 2],
    qkv: &[f32],
    weights: &mut [f32],
    out: &mut [f32],
) {
    let (d, scale) = (d_head * n_heads, s.scale());
    for row in 0..s.rows {
        let (keys, at) = s.keys(row);
        let q = s.part(qkv, s.first + row, 0, d);
        let w = &mut weights[at..at + keys.len() * n_heads];
        let out = &mut out[row * d..(row + 1) * d];
        out.fill(0.0);
        if keys.len() == 1 {
            // A leaf looks at itself alone, and leaves are half of a tree.
            w.fill(1.0);
        } else {
            for (&key, w) in keys.iter().zip(w.chunks_exact_mut(n_heads)) {
                dots::<FMA>(w, q, s.part(qkv, key as usize, 1, d), d_head, scale);
            }
            softmax::<FMA>(w, n_heads);
        }
        if s.site.is_on() {
            let index = (s.lists.pair(s.first + row) * n_heads) as u32;
            for (offset, w) in w.iter_mut().enumerate() {
                *w = if s.site.keep(index.wrapping_add(offset as u32)) { *w } else { -*w };
            }
        }
        for (&key, w) in keys.iter().zip(w.chunks_exact(n_heads)) {
            add_scaled::<FMA>(out, w, s.part(qkv, key as usize, 2, d), d_head, |w| kept(w, &s.site));
        }
    }
}

/// Backward of a block that ends at both seams: `dout` [rows, D] -> `dqkv` [rows, 3D]; `dscores` is scratch.
pub(crate) fn backward(
    s: &Sparse<'_>,
    qkv: &[f32],
    weights: &[f32],
    dout: &[f32],
    dqkv: &mut [f32],
    dscores: &mut Vec<f32>,
) {
    dscores.resize(weights.len(), 0.0);
    backward_queries(s, qkv, weights, dout, dscores, dqkv);
    backward_keys(s, qkv, weights, dout, dscores, dqkv);
}

multiversion! {
    /// The queries' side of backward, from the weights [`forward`] kept: `weights` and `dscores` [pairs, H] and `dout`
    /// [rows, D] of the block -> `dscores`, and the queries' third of the block's `dqkv` [rows, 3D].
    ///
    /// With dw_k = dout V_k where dropout keeps k, else 0: ds_k = w_k (dw_k - sum_j w_j dw_j) / sqrt(D/H);
    /// dQ_q = sum_k ds_k K_k.
    fn backward_queries(
        s: &Sparse<'_>,
        qkv: &[f32],
        weights: &[f32],
        dout: &[f32],
        dscores: &mut [f32],
        dqkv: &mut [f32],
    ) = queries_body
}

#[inline(always)]
fn queries_body<const FMA: bool>(
    s: &Sparse<'_>,
    qkv: &[f32],
    weights: &[f32],
    dout: &[f32],
    dscores: &mut [f32],
    dqkv: &mut [f32],
) {
    match (s.d / s.n_heads, s.n_heads) {
        (32, 8) => queries_of::<FMA>(s, [32, 8], qkv, weights, dout, dscores, dqkv),
        (d_head, n_heads) => queries_of::<FMA>(s, [d_head, n_heads], qkv, weights, dout, dscores, dqkv),
    }
}

#[inline(always)]
fn queries_of<const FMA: bool>(
    s: &Sparse<'_>,
    [d_head, n_heads]: [usize; 2],
    qkv: &[f32],
    weights: &[f32],
    dout: &[f32],
    dscores: &mut [f32],
    dqkv: &mut [f32],
) {
    let (d, scale) = (d_head * n_heads, s.scale());
    for row in 0..s.rows {
        let (keys, at) = s.keys(row);
        let w = &weights[at..at + keys.len() * n_heads];
        let ds = &mut dscores[at..at + keys.len() * n_heads];
        let dout = &dout[row * d..(row + 1) * d];
        for (&key, dw) in keys.iter().zip(ds.chunks_exact_mut(n_heads)) {
            dots::<FMA>(dw, dout, s.part(qkv, key as usize, 2, d), d_head, 1.0);
        }
        softmax_grad::<FMA>(ds, w, n_heads, if s.site.is_on() { s.site.scale } else { 1.0 }, scale);
        let dq = &mut dqkv[row * 3 * d..][..d];
        dq.fill(0.0);
        for (&key, ds) in keys.iter().zip(ds.chunks_exact(n_heads)) {
            add_scaled::<FMA>(dq, ds, s.part(qkv, key as usize, 1, d), d_head, |ds| ds);
        }
    }
}

multiversion! {
    /// The keys' side of backward: `weights` and `dscores` [pairs, H] and `dout` [rows, D] of all rows since the origin
    /// -> the other two thirds of the block's `dqkv` [rows, 3D].
    ///
    /// dK_k = sum_q ds_qk Q_q and dV_k = sum_q drop(w_qk) dout_q, over the queries that read k, in order.
    fn backward_keys(
        s: &Sparse<'_>,
        qkv: &[f32],
        weights: &[f32],
        dout: &[f32],
        dscores: &[f32],
        dqkv: &mut [f32],
    ) = keys_body
}

#[inline(always)]
fn keys_body<const FMA: bool>(
    s: &Sparse<'_>,
    qkv: &[f32],
    weights: &[f32],
    dout: &[f32],
    dscores: &[f32],
    dqkv: &mut [f32],
) {
    match (s.d / s.n_heads, s.n_heads) {
        (32, 8) => keys_of::<FMA>(s, [32, 8], qkv, weights, dout, dscores, dqkv),
        (d_head, n_heads) => keys_of::<FMA>(s, [d_head, n_heads], qkv, weights, dout, dscores, dqkv),
    }
}

#[inline(always)]
fn keys_of<const FMA: bool>(
    s: &Sparse<'_>,
    [d_head, n_heads]: [usize; 2],
    qkv: &[f32],
    weights: &[f32],
    dout: &[f32],
    dscores: &[f32],
    dqkv: &mut [f32],
) {
    let (d, origin, readers) = (d_head * n_heads, s.lists.pair(s.origin), s.lists.readers());
    for row in 0..s.rows {
        let (dk, dv) = dqkv[row * 3 * d + d..][..2 * d].split_at_mut(d);
        dk.fill(0.0);
        dv.fill(0.0);
        for reader in readers.of(s.first + row) {
            let (query, at) = (reader.query as usize, (reader.pair as usize - origin) * n_heads);
            let (w, ds) = (&weights[at..at + n_heads], &dscores[at..at + n_heads]);
            add_scaled::<FMA>(dk, ds, s.part(qkv, query, 0, d), d_head, |ds| ds);
            add_scaled::<FMA>(dv, w, &dout[(query - s.origin) * d..][..d], d_head, |w| kept(w, &s.site));
        }
    }
}

/// What dropout makes of a signed weight.
#[inline(always)]
fn kept(w: f32, site: &Site) -> f32 {
    match (w > 0.0, site.is_on()) {
        (true, true) => w * site.scale,
        (true, false) => w,
        (false, _) => 0.0,
    }
}
