//! Inference where equal pasts are computed once.
//!
//! Under an ancestor mask the vector of a node, in any block, depends on its own input and on the vectors of the nodes it
//! looks at, all of which stand before it. So two nodes with equal inputs that look at equal nodes have equal vectors, in the
//! same graph or in two: graphs that begin alike share the rows of their beginning. [`Classes`] finds the distinct rows by
//! hash-consing, and [`forward`] takes only those through the blocks. Of a batch of 128 ENAS graphs six rows of ten remain.
//!
//! Distinct rows keep their order, in which a row comes after all it looks at. A few at a time go through all blocks, reading
//! the keys and values that earlier ones left in the cache of each block.

use super::attend::{MAX_LANE_NODES, Order};
use super::lanes;
use super::linear::{Into, Mat, linear_unbiased, product};
use super::pool::Buffer;
use super::rows;
use super::simd::multiversion;
use super::sublayer::{Block, Frame, Kind, Own, Sublayer};
use crate::kernel::MASKED;
use crate::kernel::dropout::Dropout;
use crate::kernel::params::NormPlacement;

/// Rows that go through the blocks together.
const BLOCK_ROWS: usize = 256;

/// Rows per group: groups are what threads share out, and a larger one shares more.
const GROUP_ROWS: usize = 2048;

/// The groups of a batch of so many graphs of `n` rows: at least two, unless one of many threads is at work here already
/// and nobody waits for a share. A row's vector does not depend on its group.
pub(crate) fn groups(batch: usize, n: usize) -> Vec<Block> {
    let count = (batch * n).div_ceil(GROUP_ROWS);
    let alone = rayon::current_thread_index().is_none();
    let count = if alone { count.next_multiple_of(2).min(batch) } else { count };
    let group = batch.div_ceil(count).max(1);
    (0..batch).step_by(group).map(|first| Block { first, graphs: group.min(batch - first) }).collect()
}

/// Whether [`forward`] can serve: self-attention and feed-forward only, heads as lanes, no dropout, a mask.
pub(crate) fn serves(frame: &Frame<'_>, sublayers: &[Sublayer<'_>]) -> bool {
    let simple = |sublayer: &Sublayer<'_>| match sublayer.kind {
        Kind::SelfAttention => sublayer.order == Order::Lanes,
        Kind::CrossAttention => false,
        Kind::FeedForward => true,
    };
    matches!(frame.own, Own::Bias(_)) && !frame.dropout.site(0).is_on() && sublayers.iter().all(simple)
}

/// x [graphs * N, D] of one group -> y: all its rows of the result or, with `read`, the given ones, which count from the first
/// row of the batch. `None` if a row looks ahead or under a finite bias.
#[must_use]
pub(crate) fn forward(
    frame: &Frame<'_>,
    sublayers: &[Sublayer<'_>],
    group: Block,
    x: &[f32],
    read: Option<&[u32]>,
    y: &mut [f32],
) -> Option<()> {
    let Own::Bias(bias) = frame.own else { return None };
    let (n, d) = (frame.n, frame.d);
    let classes = Classes::new(x, &bias[group.first * n * n..][..group.graphs * n * n], n, d)?;
    let count = classes.rows.len();
    let cache = |sublayer: &Sublayer<'_>| match sublayer.kind {
        Kind::SelfAttention => Buffer::stale(count * 3 * d),
        _ => Buffer::default(),
    };
    let mut caches: Vec<Buffer> = sublayers.iter().map(cache).collect();
    let wanted = read.map(|read| classes.wanted(read, group.first * n));
    // The last block is computed for wanted rows only.
    let (all, last) = sublayers.split_at(sublayers.len() - if wanted.is_some() { 2 } else { 0 });
    let mut distinct = Buffer::stale(count * d);
    for first in (0..count).step_by(BLOCK_ROWS) {
        let mut rows: Vec<u32> = (first as u32..count.min(first + BLOCK_ROWS) as u32).collect();
        let mut h = gather(rows.iter().map(|&class| classes.rows[class as usize]), x, d);
        for (sublayer, cache) in all.iter().zip(&mut caches) {
            h = around(frame, sublayer, h, |x| match sublayer.kind {
                Kind::FeedForward => feed_forward(sublayer, x, rows.len()),
                _ => attend(frame, sublayer, &classes, &rows, x, cache),
            });
        }
        if let (Some(wanted), [attention, feeding]) = (&wanted, last) {
            let cache = &mut caches[all.len()];
            project_keys(frame, attention, &h, &mut cache[first * 3 * d..]);
            rows.retain(|&class| wanted[class as usize]);
            if rows.is_empty() {
                continue;
            }
            h = gather(rows.iter().map(|&class| class - first as u32), &h, d);
            h = around(frame, attention, h, |x| attend_wanted(frame, attention, &classes, &rows, x, cache));
            h = around(frame, feeding, h, |x| feed_forward(feeding, x, rows.len()));
        }
        for (h, &class) in h.chunks_exact(d).zip(&rows) {
            distinct[class as usize * d..][..d].copy_from_slice(h);
        }
    }
    let class = |row: usize| classes.of_row[read.map_or(row, |read| read[row] as usize - group.first * n)] as usize;
    for (row, y) in y.chunks_exact_mut(d).enumerate() {
        y.copy_from_slice(&distinct[class(row) * d..][..d]);
    }
    Some(())
}

/// Residual and norm around the function of a sublayer; the bias of its last map, the fourth parameter, is added here.
fn around(frame: &Frame<'_>, sublayer: &Sublayer<'_>, x: Buffer, f: impl FnOnce(&[f32]) -> Buffer) -> Buffer {
    let ((gamma, beta), bias) = (sublayer.norm_params(), &sublayer.params[3]);
    match frame.norm {
        NormPlacement::Post => {
            let mut sum = f(&x);
            rows::add_norm(&mut sum, &x, [bias, gamma, beta], frame.epsilon);
            sum
        }
        NormPlacement::Pre => {
            let (mut normed, mut rstd) = (Buffer::stale(x.len()), Buffer::stale(x.len() / frame.d));
            let mut xhat = Buffer::copy_of(&x);
            rows::norm(&mut xhat, &mut normed, &mut rstd, gamma, beta, frame.epsilon);
            let mut sum = f(&normed);
            rows::residual(&mut sum, &x, bias, Dropout::NONE.site(0), 0);
            sum
        }
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

/// Self-attention of consecutive classes, x [rows, D] -> [rows, D] without the last bias; their packed projection goes
/// into the cache [distinct, 3D], without its bias.
fn attend(
    frame: &Frame<'_>,
    sublayer: &Sublayer<'_>,
    classes: &Classes,
    rows: &[u32],
    x: &[f32],
    cache: &mut [f32],
) -> Buffer {
    let d = frame.d;
    let packed = &mut cache[rows[0] as usize * 3 * d..][..rows.len() * 3 * d];
    let (x, weight) = (Mat::new(x, d), Mat::new(&sublayer.params[0], 3 * d));
    product([rows.len(), d, 3 * d], packed, 3 * d, Into::Replace, x, weight, 1.0);
    mix(frame, sublayer, classes, rows, cache)
}

/// The keys and values of consecutive classes, x [rows, D] -> two thirds of packed [rows, 3D].
fn project_keys(frame: &Frame<'_>, sublayer: &Sublayer<'_>, x: &[f32], packed: &mut [f32]) {
    let (d, rows) = (frame.d, x.len() / frame.d);
    let (x, weight) = (Mat::new(x, d), Mat::new(&sublayer.params[0][d..], 3 * d));
    product([rows, d, 2 * d], &mut packed[d..rows * 3 * d], 3 * d, Into::Replace, x, weight, 1.0);
}

/// [`attend`] of any classes, whose keys and values [`project_keys`] has left in the cache: only queries are missing.
fn attend_wanted(
    frame: &Frame<'_>,
    sublayer: &Sublayer<'_>,
    classes: &Classes,
    rows: &[u32],
    x: &[f32],
    cache: &mut [f32],
) -> Buffer {
    let (d, mut q) = (frame.d, Buffer::stale(x.len()));
    let weight = Mat::new(&sublayer.params[0], 3 * d);
    product([rows.len(), d, d], &mut q, d, Into::Replace, Mat::new(x, d), weight, 1.0);
    for (q, &row) in q.chunks_exact(d).zip(rows) {
        cache[row as usize * 3 * d..][..d].copy_from_slice(q);
    }
    mix(frame, sublayer, classes, rows, cache)
}

/// What some classes make of the projections in the cache: attention and the output projection without its bias.
fn mix(frame: &Frame<'_>, sublayer: &Sublayer<'_>, classes: &Classes, rows: &[u32], cache: &[f32]) -> Buffer {
    let (d, n_heads) = (frame.d, frame.n_heads);
    let mut heads = Buffer::stale(rows.len() * d);
    let scale = 1.0 / ((d / n_heads) as f32).sqrt();
    let bias = &sublayer.params[1];
    attend_lists(&Attention { classes, rows, d, n_heads, scale, bias }, cache, &mut heads);
    linear_unbiased(&heads, rows.len(), &sublayer.params[2])
}

/// Sizes and lists of [`attend_lists`].
pub(crate) struct Attention<'a> {
    classes: &'a Classes,
    /// The classes to compute.
    rows: &'a [u32],
    d: usize,
    n_heads: usize,
    scale: f32,
    /// Of the packed projection.
    bias: &'a [f32],
}

multiversion! {
    /// [`lanes::along`] for every row: packed projections [distinct, 3D] -> [rows, D].
    fn attend_lists(a: &Attention<'_>, qkv: &[f32], out: &mut [f32]) = attend_lists_body
}

#[inline(always)]
fn attend_lists_body<const FMA: bool>(a: &Attention<'_>, qkv: &[f32], out: &mut [f32]) {
    match (a.n_heads, a.d) {
        (8, 64) => attend_lists_of::<8, 16, FMA>(a, 64, qkv, out),
        (8, d) if d.is_multiple_of(16) => attend_lists_of::<8, 16, FMA>(a, d, qkv, out),
        (8, d) => attend_lists_of::<8, 8, FMA>(a, d, qkv, out),
        (4, d) => attend_lists_of::<4, 4, FMA>(a, d, qkv, out),
        (16, d) => attend_lists_of::<16, 16, FMA>(a, d, qkv, out),
        (n_heads, _) => unreachable!("{n_heads} heads have no lane kernel"),
    }
}

#[inline(always)]
fn attend_lists_of<const H: usize, const W: usize, const FMA: bool>(
    a: &Attention<'_>,
    d: usize,
    qkv: &[f32],
    out: &mut [f32],
) {
    let mut weights = [[0.0; H]; MAX_LANE_NODES];
    for (&row, out) in a.rows.iter().zip(out.chunks_exact_mut(d)) {
        let row = row as usize;
        lanes::along::<H, W, FMA>(row, a.classes.keys(row), d, a.scale, qkv, a.bias, out, &mut weights);
    }
}

/// The distinct rows of a group of graphs.
pub(crate) struct Classes {
    /// The first row of each class, ascending.
    rows: Vec<u32>,
    /// The classes that each class looks at, itself among them where it does: `keys[offsets[c]..offsets[c + 1]]`.
    keys: Vec<u32>,
    offsets: Vec<u32>,
    /// The class of every row.
    of_row: Vec<u32>,
}

/// An empty place in the hash table.
const FREE: u32 = u32::MAX;

impl Classes {
    /// x [graphs * N, D] and bias [graphs, N, N]; `None` if a row looks ahead or under a bias other than 0.
    fn new(x: &[f32], bias: &[f32], n: usize, d: usize) -> Option<Classes> {
        let count = x.len() / d;
        let mut classes = Classes {
            rows: Vec::with_capacity(count),
            keys: Vec::with_capacity(4 * count),
            offsets: vec![0],
            of_row: Vec::with_capacity(count),
        };
        let mut table = vec![FREE; (2 * count).next_power_of_two()];
        let mut key_classes = vec![0; n];
        for (row, bias) in bias.chunks_exact(n).enumerate() {
            let (graph, position) = (row / n * n, row % n);
            // What would be the class of this row if it is new.
            let own = classes.rows.len() as u32;
            // Without branches, for masks are unpredictable.
            let (past, ahead) = bias.split_at(position + 1);
            let (mut count, mut strange) =
                (0, ahead.iter().fold(f32::NEG_INFINITY, |top, &bias| top.max(bias)) > MASKED);
            for (&class, &bias) in classes.of_row[graph..].iter().chain([&own]).zip(past) {
                key_classes[count] = class;
                count += usize::from(bias > MASKED);
                strange |= (bias > MASKED) & (bias != 0.0);
            }
            if strange {
                return None;
            }
            let key_classes = &key_classes[..count];
            let values = &x[row * d..][..d];
            let hash = hash(values, key_classes, own);
            let class = classes.find(&mut table, hash, x, values, key_classes);
            if class == own {
                classes.rows.push(row as u32);
                classes.keys.extend_from_slice(key_classes);
                classes.offsets.push(classes.keys.len() as u32);
            }
            classes.of_row.push(class);
        }
        Some(classes)
    }

    /// The class of a row with these values and keys; the next new one, entered into the table, if there is none yet.
    fn find(&self, table: &mut [u32], hash: u64, x: &[f32], values: &[f32], keys: &[u32]) -> u32 {
        let own = self.rows.len() as u32;
        let mask = table.len() - 1;
        let mut place = hash as usize & mask;
        while table[place] != FREE {
            let class = table[place];
            // A class that looks at itself has its own number among its keys.
            let same = |(&theirs, &ours): (&u32, &u32)| theirs == ours || (theirs == class && ours == own);
            let candidates = self.keys(class as usize);
            if candidates.len() == keys.len()
                && candidates.iter().zip(keys).all(same)
                && x[self.rows[class as usize] as usize * values.len()..][..values.len()] == *values
            {
                return class;
            }
            place = (place + 1) & mask;
        }
        table[place] = own;
        own
    }

    /// Which classes have one of the given rows, counted from `origin`.
    fn wanted(&self, rows: &[u32], origin: usize) -> Vec<bool> {
        let mut wanted = vec![false; self.rows.len()];
        rows.iter().for_each(|&row| wanted[self.of_row[row as usize - origin] as usize] = true);
        wanted
    }

    /// The classes a class looks at.
    #[inline(always)]
    fn keys(&self, class: usize) -> &[u32] {
        &self.keys[self.offsets[class] as usize..self.offsets[class + 1] as usize]
    }
}

/// A hash of a row and of what it looks at, whatever number it would get itself.
fn hash(values: &[f32], keys: &[u32], own: u32) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    // Four chains, or each multiplication would wait for the one before.
    let mut lanes = [1_u64, 2, 3, 4];
    for chunk in values.chunks(8) {
        for (lane, pair) in lanes.iter_mut().zip(chunk.chunks(2)) {
            let low = u64::from(pair[0].to_bits());
            let high = pair.get(1).map_or(0, |value| u64::from(value.to_bits()));
            *lane = (*lane ^ (high << 32 | low)).wrapping_mul(ODD).rotate_left(29);
        }
    }
    let start = lanes.into_iter().fold(keys.len() as u64, |hash, lane| (hash ^ lane).wrapping_mul(ODD).rotate_left(31));
    let keys = keys.iter().map(|&key| if key == own { u64::from(FREE) } else { u64::from(key) });
    let hash = keys.fold(start, |hash, key| (hash ^ key).wrapping_mul(ODD).rotate_left(31));
    // The low bits choose the place.
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::{Classes, groups};

    const INF: f32 = f32::NEG_INFINITY;

    /// Two chains of three that differ in their last node, and one that differs in its second.
    #[test]
    fn equal_pasts_are_one_class() {
        let causal = [0.0, INF, INF, 0.0, 0.0, INF, 0.0, 0.0, 0.0].repeat(3);
        let x: Vec<f32> = [1, 2, 3, 1, 2, 4, 1, 5, 3].iter().flat_map(|&v| [v as f32, -(v as f32)]).collect();
        let classes = Classes::new(&x, &causal, 3, 2).unwrap();
        assert_eq!(classes.rows, [0, 1, 2, 5, 7, 8]);
        assert_eq!(classes.of_row, [0, 1, 2, 0, 1, 3, 0, 4, 5]);
        assert_eq!(classes.keys(3), [0, 1, 3]);
        assert_eq!(classes.keys(5), [0, 4, 5]);
    }

    /// The same values, but the second node does not look at the first.
    #[test]
    fn other_keys_are_another_class() {
        let bias = [0.0, INF, 0.0, 0.0, 0.0, INF, INF, 0.0];
        let classes = Classes::new(&[1.0, 2.0, 1.0, 2.0], &bias, 2, 1).unwrap();
        assert_eq!(classes.of_row, [0, 1, 0, 2]);
        assert_eq!(classes.keys(2), [2]);
    }

    #[test]
    fn looking_ahead_is_refused() {
        assert!(Classes::new(&[1.0, 2.0], &[0.0, 0.0, INF, 0.0], 2, 1).is_none());
        assert!(Classes::new(&[1.0, 2.0], &[0.0, INF, -1.0, 0.0], 2, 1).is_none());
    }

    #[test]
    fn groups_cover_the_batch() {
        for (batch, n) in [(1, 9), (2, 9), (3, 9), (128, 9), (1000, 7), (5000, 7)] {
            let groups = groups(batch, n);
            assert_eq!(groups.iter().map(|group| group.graphs).sum::<usize>(), batch);
            assert!(groups.windows(2).all(|pair| pair[0].first + pair[0].graphs == pair[1].first));
        }
    }
}
