//! Inference where equal pasts are computed once, see [`Pasts`].
//!
//! Pasts keep their order, in which each comes after all it looks at. A few at a time go through all blocks, reading the keys
//! and values that earlier ones left in the cache of each block. The first block needs no cache: its rows are inputs, of
//! which there are fewer than pasts, and those are projected once.

use std::ops::Range;

use rayon::prelude::{IntoParallelIterator, ParallelIterator};

use super::attend::{MAX_LANE_NODES, Order};
use super::lanes;
use super::linear::{Into, Mat, linear_unbiased, product};
use super::ops::ENCODER;
use super::pool::Buffer;
use super::rows;
use super::simd::multiversion;
use super::sublayer::{Frame, Own, Sublayer};
use crate::kernel::dropout::Dropout;
use crate::kernel::params::{BlockConfig, NormPlacement};
use crate::kernel::pasts::{Group, Pasts};

/// Pasts that go through the blocks together.
const BLOCK_ROWS: usize = 256;

/// Whether [`encode`] can serve graphs of `n` rows: heads as lanes, and post-norm.
pub(crate) fn serves(n: usize, config: &BlockConfig) -> bool {
    Order::choose(config.n_heads, n, n) == Order::Lanes && config.norm == NormPlacement::Post
}

/// A stack of encoder blocks ready to run.
pub(crate) struct Encoder<'a> {
    d: usize,
    n_heads: usize,
    epsilon: f32,
    /// Attention and feed-forward of every block, of which there is one at least.
    blocks: Vec<[Sublayer<'a>; 2]>,
    pasts: &'a Pasts,
    /// The distinct inputs, [U, D].
    x: &'a [f32],
    /// Their packed projections in the first block, [U, 3D], without bias.
    first: Buffer,
}

impl<'a> Encoder<'a> {
    /// `params` has those of all blocks in order.
    pub(crate) fn new(x: &'a [f32], d: usize, pasts: &'a Pasts, params: &[&'a [f32]], config: &BlockConfig) -> Self {
        let (n_heads, epsilon) = (config.n_heads, config.epsilon as f32);
        // Who looks at whom is in the pasts, so nobody asks for a bias.
        let (own, memory_bias, dropout) = (Own::Bias(&[]), None, Dropout::NONE);
        let frame = Frame { n: pasts.n(), m: 0, d, n_heads, epsilon, norm: config.norm, dropout, own, memory_bias };
        let block = |(layer, params): (usize, &[&'a [f32]])| {
            let (attention, feeding) = params.split_at(ENCODER[0].n_params());
            [(ENCODER[0], attention), (ENCODER[1], feeding)].map(|(kind, own)| Sublayer::new(kind, layer, own, &frame))
        };
        let n_params = ENCODER.iter().map(|kind| kind.n_params()).sum();
        let blocks: Vec<_> = params.chunks_exact(n_params).enumerate().map(block).collect();
        let mut first = Buffer::stale(3 * x.len());
        project(&blocks[0][0], x, d, 0..3, &mut first);
        Self { d, n_heads, epsilon, blocks, pasts, x, first }
    }

    /// The vectors of all pasts, [pasts, D], or of those of the rows that are `read`, ascending, and zeros elsewhere.
    pub(crate) fn encode(&self, read: Option<&[u32]>) -> Vec<f32> {
        let mut y = vec![0.0; self.pasts.len() * self.d];
        let (mut rest, mut parts) = (&mut y[..], Vec::new());
        for group in &self.pasts.groups {
            let (part, others) = rest.split_at_mut(group.pasts.len() * self.d);
            rest = others;
            parts.push((group, part));
        }
        parts.into_par_iter().for_each(|(group, y)| self.group(group, read, y));
        y
    }

    /// [`Encoder::encode`] of one group.
    fn group(&self, group: &Group, read: Option<&[u32]>, y: &mut [f32]) {
        let (d, count) = (self.d, group.pasts.len());
        let (by_input, by_past) = (Places::of_inputs(self.pasts, group), Places::of_pasts(self.pasts, group));
        let wanted = read.map(|read| self.wanted(group, read));
        let mut caches: Vec<Buffer> = self.blocks[1..].iter().map(|_| Buffer::stale(count * 3 * d)).collect();
        for start in (0..count).step_by(BLOCK_ROWS) {
            // Numbers of pasts, counted from the first of the group.
            let mut rows: Vec<u32> = (start as u32..count.min(start + BLOCK_ROWS) as u32).collect();
            let mut h = gather(rows.iter().map(|&past| by_input.queries[past as usize]), self.x, d);
            for (layer, [attention, feeding]) in self.blocks.iter().enumerate() {
                // The last block is computed for wanted rows only, and so are its queries.
                let wanted = wanted.as_ref().filter(|_| layer + 1 == self.blocks.len());
                let mut cache = layer.checked_sub(1).map(|later| &mut caches[later]);
                if let Some(cache) = &mut cache {
                    let parts = if wanted.is_some() { 1..3 } else { 0..3 };
                    project(attention, &h, d, parts, &mut cache[start * 3 * d..]);
                }
                if let Some(wanted) = wanted {
                    rows.retain(|&past| wanted[past as usize]);
                    if rows.is_empty() {
                        break;
                    }
                    h = gather(rows.iter().map(|&past| past - start as u32), &h, d);
                    if let Some(cache) = &mut cache {
                        project_queries(attention, &h, d, &rows, cache);
                    }
                }
                let mut attended = match cache {
                    None => self.attend(attention, &by_input, &rows, &self.first),
                    Some(cache) => self.attend(attention, &by_past, &rows, cache),
                };
                self.add_norm(attention, &mut attended, &h);
                h = feed_forward(feeding, &attended, rows.len());
                self.add_norm(feeding, &mut h, &attended);
            }
            for (h, &past) in h.chunks_exact(d).zip(&rows) {
                y[past as usize * d..][..d].copy_from_slice(h);
            }
        }
    }

    /// Which pasts of a group have one of the given rows.
    fn wanted(&self, group: &Group, rows: &[u32]) -> Vec<bool> {
        let place = |row: usize| rows.partition_point(|read| (*read as usize) < row);
        let mut wanted = vec![false; group.pasts.len()];
        for &row in &rows[place(group.rows.start)..place(group.rows.end)] {
            wanted[self.pasts.of_row[row as usize] as usize - group.pasts.start] = true;
        }
        wanted
    }
}

impl Encoder<'_> {
    /// Attention of some pasts over packed projections, and the output projection without its bias: -> [rows, D].
    fn attend(&self, sublayer: &Sublayer<'_>, places: &Places<'_>, rows: &[u32], packed: &[f32]) -> Buffer {
        let (d, n_heads) = (self.d, self.n_heads);
        let mut heads = Buffer::stale(rows.len() * d);
        let (scale, bias) = (1.0 / ((d / n_heads) as f32).sqrt(), &sublayer.params[1][..]);
        attend_lists(&Attention { places, rows, d, n_heads, scale, bias }, packed, &mut heads);
        linear_unbiased(&heads, rows.len(), &sublayer.params[2])
    }

    /// sum = LN(sum + bias of the last map, the fourth parameter, + x).
    fn add_norm(&self, sublayer: &Sublayer<'_>, sum: &mut [f32], x: &[f32]) {
        let (gamma, beta) = sublayer.norm_params();
        rows::add_norm(sum, x, [&sublayer.params[3], gamma, beta], self.epsilon);
    }
}

/// The feed-forward of x [rows, D] without the last bias.
fn feed_forward(sublayer: &Sublayer<'_>, x: &[f32], rows: usize) -> Buffer {
    let mut hidden = linear_unbiased(x, rows, &sublayer.params[0]);
    rows::relu_dropped(&mut hidden, &sublayer.params[1], Dropout::NONE.site(0), 0);
    linear_unbiased(&hidden, rows, &sublayer.params[2])
}

/// The rows of x [.., D] with the given numbers.
fn gather(rows: impl ExactSizeIterator<Item = u32>, x: &[f32], d: usize) -> Buffer {
    let mut gathered = Buffer::stale(rows.len() * d);
    for (gathered, row) in gathered.chunks_exact_mut(d).zip(rows) {
        gathered.copy_from_slice(&x[row as usize * d..][..d]);
    }
    gathered
}

/// Some of queries (0), keys (1) and values (2) without their bias: x [rows, D] -> their columns of packed [rows.., 3D].
fn project(sublayer: &Sublayer<'_>, x: &[f32], d: usize, parts: Range<usize>, packed: &mut [f32]) {
    let (rows, column, width) = (x.len() / d, parts.start * d, parts.len() * d);
    let (x, weight) = (Mat::new(x, d), Mat::new(&sublayer.params[0][column..], 3 * d));
    product([rows, d, width], &mut packed[column..rows * 3 * d], 3 * d, Into::Replace, x, weight, 1.0);
}

/// The queries of x [rows, D] without their bias, to the given rows of packed [.., 3D].
fn project_queries(sublayer: &Sublayer<'_>, x: &[f32], d: usize, rows: &[u32], packed: &mut [f32]) {
    let mut q = Buffer::stale(x.len());
    let weight = Mat::new(&sublayer.params[0], 3 * d);
    product([rows.len(), d, d], &mut q, d, Into::Replace, Mat::new(x, d), weight, 1.0);
    for (q, &row) in q.chunks_exact(d).zip(rows) {
        packed[row as usize * 3 * d..][..d].copy_from_slice(q);
    }
}

/// Where a group's pasts find what they look at: rows of packed projections.
pub(crate) struct Places<'a> {
    /// Of each past's query.
    queries: Vec<u32>,
    /// Of the keys of all pasts; those of past p are `offsets[p]..offsets[p + 1]`, less the first offset.
    keys: Vec<u32>,
    offsets: &'a [u32],
}

impl<'a> Places<'a> {
    /// By the inputs of the pasts, for the first block.
    fn of_inputs(pasts: &'a Pasts, group: &Group) -> Self {
        Self::new(pasts, group, |past| pasts.inputs[past as usize])
    }

    /// By the numbers of the pasts in the group, for the blocks after it.
    fn of_pasts(pasts: &'a Pasts, group: &Group) -> Self {
        Self::new(pasts, group, |past| past - group.pasts.start as u32)
    }

    fn new(pasts: &'a Pasts, group: &Group, place: impl Fn(u32) -> u32) -> Self {
        let Range { start, end } = group.pasts;
        let offsets = &pasts.offsets[start..=end];
        let keys = &pasts.keys[offsets[0] as usize..offsets[end - start] as usize];
        let queries = (start as u32..end as u32).map(&place).collect();
        Self { queries, keys: keys.iter().map(|&key| place(key)).collect(), offsets }
    }

    #[inline(always)]
    fn keys(&self, past: usize) -> &[u32] {
        let place = |offset: usize| (self.offsets[offset] - self.offsets[0]) as usize;
        &self.keys[place(past)..place(past + 1)]
    }
}

/// Sizes and lists of [`attend_lists`].
pub(crate) struct Attention<'a> {
    places: &'a Places<'a>,
    /// The pasts to compute.
    rows: &'a [u32],
    d: usize,
    n_heads: usize,
    scale: f32,
    /// Of the packed projection.
    bias: &'a [f32],
}

multiversion! {
    /// [`lanes::along`] for every row: packed projections [.., 3D] -> [rows, D].
    fn attend_lists(a: &Attention<'_>, qkv: &[f32], out: &mut [f32]) = attend_lists_body
}

#[inline(always)]
fn attend_lists_body<const FMA: bool>(a: &Attention<'_>, qkv: &[f32], out: &mut [f32]) {
    match (a.n_heads, a.d) {
        (8, 64) => attend_lists_of::<8, 16, 4, FMA>(a, 64, qkv, out),
        (8, d) if d.is_multiple_of(64) => attend_lists_of::<8, 16, 4, FMA>(a, d, qkv, out),
        (8, d) => attend_lists_of::<8, 8, 1, FMA>(a, d, qkv, out),
        (4, d) => attend_lists_of::<4, 4, 1, FMA>(a, d, qkv, out),
        (16, d) => attend_lists_of::<16, 16, 1, FMA>(a, d, qkv, out),
        (n_heads, _) => unreachable!("{n_heads} heads have no lane kernel"),
    }
}

#[inline(always)]
fn attend_lists_of<const H: usize, const W: usize, const G: usize, const FMA: bool>(
    a: &Attention<'_>,
    d: usize,
    qkv: &[f32],
    out: &mut [f32],
) {
    let mut weights = [[0.0; H]; MAX_LANE_NODES];
    for (&row, out) in a.rows.iter().zip(out.chunks_exact_mut(d)) {
        let (query, keys) = (a.places.queries[row as usize] as usize, a.places.keys(row as usize));
        lanes::along::<H, W, G, FMA>(query, keys, d, a.scale, qkv, a.bias, out, &mut weights);
    }
}
