//! Inference on packed rows: all rows of graphs of any size, along lists of keys.
//!
//! Rows go through a block in strips, each of which stays in the second cache from the attention of the block to the keys and
//! values of the next one. A strip reads keys and values of any row of its graph, so all strips of a block end before those of the
//! next begin. The strips of a large graph run in parallel, and so do groups of small graphs. A row does not depend on the strip it is
//! in: neither the cut nor the number of threads changes a bit.

use std::ops::Range;

use rayon::prelude::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator, ParallelSliceMut};

use super::block::{EncoderBlock, Room, at_least};
use crate::kernel::fused::attention::lists::{Along, Queries, attend};
use crate::kernel::fused::block::cut::split;
use crate::kernel::fused::block::params::EncoderView;
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::pair_lists::Lists;
use crate::kernel::params::BlockConfig;

/// Rows of a strip.
const STRIP_ROWS: usize = 96;

/// Small graphs are computed together, up to so many rows; the threads share a larger one.
const GROUP_ROWS: usize = 4 * STRIP_ROWS;

/// Memory of one thread, used strip after strip.
#[derive(Default)]
struct Strip {
    /// Indices of the rows.
    rows: Vec<u32>,
    /// The inputs and the queries of the rows with several keys, [rows, D].
    own: Buffer,
    q: Buffer,
    heads: Buffer,
    weights: Vec<f32>,
    room: Room,
}

/// A stack on packed rows.
struct Stack<'a> {
    d: usize,
    n_heads: usize,
    blocks: Vec<EncoderBlock<'a>>,
    lists: &'a Lists,
}

/// A stack of blocks on packed rows: x [T, D] -> [T, D].
pub(crate) fn packed_encoder(
    x: &[f32],
    d: usize,
    lists: &Lists,
    params: Vec<EncoderView<&[f32]>>,
    config: &BlockConfig,
) -> Vec<f32> {
    let stack = Stack { d, n_heads: config.n_heads, blocks: EncoderBlock::stack(params, d, config), lists };
    let mut h = x.to_vec();
    let groups = groups(lists.seams());
    let parts = split(&mut h, groups.iter().map(|rows| rows.len() * d));
    groups.into_par_iter().zip(parts).for_each(|(rows, h)| stack.group(rows, h));
    h
}

/// Groups of rows between two seams, as few as [`GROUP_ROWS`] allows.
fn groups(seams: &[u32]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for seam in seams.windows(2) {
        let (first, end) = (seam[0] as usize, seam[1] as usize);
        match groups.last_mut() {
            Some(group) if end - group.start <= GROUP_ROWS => group.end = end,
            _ => groups.push(first..end),
        }
    }
    groups
}

impl Stack<'_> {
    /// All blocks on the rows of a group, in place.
    fn group(&self, rows: Range<usize>, h: &mut [f32]) {
        let d = self.d;
        let (strip, count) = (STRIP_ROWS * d, rows.len().div_ceil(STRIP_ROWS));
        // A group of many graphs stays with its thread: the others have groups of their own.
        let least = if rows.len() > GROUP_ROWS { 1 } else { count };
        let [mut kv, mut next] = [(); 2].map(|()| Buffer::stale(rows.len() * 2 * d));
        let strips = h.par_chunks_mut(strip).zip(kv.par_chunks_mut(2 * strip)).with_min_len(least);
        strips.for_each(|(h, kv)| self.blocks[0].keys_values(h, kv));
        for (layer, block) in self.blocks.iter().enumerate() {
            let later = self.blocks.get(layer + 1);
            let strips = h.par_chunks_mut(strip).zip(next.par_chunks_mut(2 * strip)).enumerate().with_min_len(least);
            strips.for_each_init(Strip::default, |memory, (number, (h, next))| {
                self.strip(block, [rows.start, number * STRIP_ROWS], h, &kv, memory);
                if let Some(later) = later {
                    later.keys_values(h, next);
                }
            });
            std::mem::swap(&mut kv, &mut next);
        }
    }

    /// One block on a strip, in place. Keys and values begin at row `origin`, the strip `offset` rows after it.
    fn strip(
        &self,
        block: &EncoderBlock<'_>,
        [origin, offset]: [usize; 2],
        h: &mut [f32],
        kv: &[f32],
        memory: &mut Strip,
    ) {
        let Strip { rows, own, q, heads, weights, room } = memory;
        let (d, n_heads, first) = (self.d, self.n_heads, (origin + offset) as u32);
        rows.clear();
        rows.extend(first..first + (h.len() / d) as u32);
        let (offsets, keys) = self.lists.parts();
        let along = Along { rows, offsets, keys, queries: Queries::OfSeveralKeys, origin, d, n_heads };
        // Leaves, which are half of a tree, have a single key and need no query.
        let asks = |(row, _): &(&u32, &[f32])| along.of(**row).len() > 1;
        let own = at_least(own, h.len());
        let mut count = 0;
        for ((_, h), own) in rows.iter().zip(h.chunks_exact(d)).filter(asks).zip(own.chunks_exact_mut(d)) {
            own.copy_from_slice(h);
            count += 1;
        }
        let (own, q) = (&own[..count * d], at_least(q, count * d));
        block.queries(own, q);
        let heads = at_least(heads, h.len());
        attend(&along, q, kv, weights, heads);
        block.finish(heads, h, room);
    }
}

#[cfg(test)]
mod tests {
    use super::{GROUP_ROWS, groups};

    #[test]
    fn groups_are_between_seams() {
        let most = GROUP_ROWS as u32;
        assert!(groups(&[0]).is_empty());
        assert_eq!(groups(&[0, 3, most, most + 1]), [0..GROUP_ROWS, GROUP_ROWS..GROUP_ROWS + 1]);
        assert_eq!(groups(&[0, 5 * most, 5 * most + 2]), [0..5 * GROUP_ROWS, 5 * GROUP_ROWS..5 * GROUP_ROWS + 2]);
    }
}
