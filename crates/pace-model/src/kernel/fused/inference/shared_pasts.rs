//! Inference that computes equal pasts once, see [`Pasts`].
//!
//! Pasts come in an order in which each stands after all it looks at. A few at a time go through all blocks and read the keys
//! and values that earlier ones left in the cache of each block. The first block needs no cache: its rows are inputs, of which there
//! are fewer than pasts, and each is projected once.

use rayon::prelude::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::block::{EncoderBlock, Room, at_least};
use crate::kernel::fused::attention::lists::{Along, Queries, attend};
use crate::kernel::fused::block::cut::split;
use crate::kernel::fused::block::params::EncoderView;
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::params::BlockConfig;
use crate::kernel::pasts::{Group, Pasts};

/// Pasts that go through the blocks together.
const STRIP_ROWS: usize = 96;

/// A stack of blocks at least one high on the distinct inputs x [U, D]: the vectors of all pasts, [pasts, D]. With `rows`, which
/// ascend, those of the pasts of these rows only, and zeros elsewhere.
pub(crate) fn shared_encoder(
    x: &[f32],
    d: usize,
    pasts: &Pasts,
    rows: Option<&[u32]>,
    params: Vec<EncoderView<&[f32]>>,
    config: &BlockConfig,
) -> Vec<f32> {
    Encoder::new(x, d, pasts, params, config).encode(rows)
}

/// A stack of encoder blocks ready to run.
struct Encoder<'a> {
    d: usize,
    n_heads: usize,
    /// At least one.
    blocks: Vec<EncoderBlock<'a>>,
    pasts: &'a Pasts,
    /// The distinct inputs, [U, D].
    x: &'a [f32],
    /// Their queries in the first block, [U, D], and their keys and values, [U, 2D].
    first_queries: Buffer,
    first_keys_values: Buffer,
    /// The inputs of all keys of the pasts.
    input_keys: Vec<u32>,
}

impl<'a> Encoder<'a> {
    fn new(
        x: &'a [f32],
        d: usize,
        pasts: &'a Pasts,
        params: Vec<EncoderView<&'a [f32]>>,
        config: &BlockConfig,
    ) -> Self {
        let (n_heads, blocks) = (config.n_heads, EncoderBlock::stack(params, d, config));
        let (mut first_queries, mut first_keys_values) = (Buffer::stale(x.len()), Buffer::stale(2 * x.len()));
        blocks[0].queries(x, &mut first_queries);
        blocks[0].keys_values(x, &mut first_keys_values);
        let input_keys = pasts.keys.items().iter().map(|&key| pasts.inputs[key as usize]).collect();
        Self { d, n_heads, blocks, pasts, x, first_queries, first_keys_values, input_keys }
    }

    /// See [`shared_encoder`].
    fn encode(&self, read: Option<&[u32]>) -> Vec<f32> {
        let mut y = vec![0.0; self.pasts.len() * self.d];
        let groups = &self.pasts.groups;
        let parts = split(&mut y, groups.iter().map(|group| group.pasts.len() * self.d));
        groups.par_iter().zip(parts).for_each(|(group, y)| self.group(group, read, y));
        y
    }

    /// [`Encoder::encode`] of one group.
    fn group(&self, group: &Group, read: Option<&[u32]>, y: &mut [f32]) {
        let (d, count) = (self.d, group.pasts.len());
        let (origin, inputs) = (group.pasts.start, &self.pasts.inputs);
        let wanted = read.map(|read| self.wanted(group, read));
        let mut caches: Vec<Buffer> = self.blocks[1..].iter().map(|_| Buffer::stale(count * 2 * d)).collect();
        let [mut h, mut q, mut heads, mut others] = [(); 4].map(|()| Buffer::default());
        let (mut rows, mut weights, mut room) = (Vec::new(), Vec::new(), Room::default());
        for start in (0..count).step_by(STRIP_ROWS) {
            let first = origin + start;
            rows.clear();
            rows.extend(first as u32..(first + STRIP_ROWS).min(group.pasts.end) as u32);
            gather(rows.iter().map(|&past| inputs[past as usize]), self.x, d, &mut h);
            for (layer, block) in self.blocks.iter().enumerate() {
                if let Some(later) = layer.checked_sub(1) {
                    block.keys_values(&h[..rows.len() * d], &mut caches[later][start * 2 * d..][..rows.len() * 2 * d]);
                }
                // The last block is computed for wanted rows only.
                if let Some(wanted) = wanted.as_ref().filter(|_| layer + 1 == self.blocks.len()) {
                    rows.retain(|&past| wanted[past as usize - origin]);
                    if rows.is_empty() {
                        break;
                    }
                    gather(rows.iter().map(|&past| past - first as u32), &h, d, &mut others);
                    std::mem::swap(&mut h, &mut others);
                }
                let h = &mut h[..rows.len() * d];
                // In the first block, keys and queries are found by inputs; after it, by pasts.
                let (keys, kv, origin) = match layer.checked_sub(1) {
                    None => {
                        gather(rows.iter().map(|&past| inputs[past as usize]), &self.first_queries, d, &mut q);
                        (&self.input_keys[..], &self.first_keys_values, 0)
                    }
                    Some(later) => {
                        block.queries(h, at_least(&mut q, h.len()));
                        (self.pasts.keys.items(), &caches[later], origin)
                    }
                };
                let heads = at_least(&mut heads, h.len());
                let offsets = self.pasts.keys.offsets();
                let along =
                    Along { rows: &rows, offsets, keys, queries: Queries::OfAll, origin, d, n_heads: self.n_heads };
                attend(&along, &q, kv, &mut weights, heads);
                block.finish(heads, h, &mut room);
            }
            for (h, &past) in h.chunks_exact(d).zip(&rows) {
                y[(past as usize - origin) * d..][..d].copy_from_slice(h);
            }
        }
    }

    /// Which pasts of a group have one of the given rows.
    fn wanted(&self, group: &Group, rows: &[u32]) -> Vec<bool> {
        let before = |row: usize| rows.partition_point(|read| (*read as usize) < row);
        let mut wanted = vec![false; group.pasts.len()];
        for &row in &rows[before(group.rows.start)..before(group.rows.end)] {
            wanted[self.pasts.of_row[row as usize] as usize - group.pasts.start] = true;
        }
        wanted
    }
}

/// Copies the given rows of x [.., D] to the beginning of `gathered`.
fn gather(rows: impl ExactSizeIterator<Item = u32>, x: &[f32], d: usize, gathered: &mut Buffer) {
    let gathered = at_least(gathered, rows.len() * d);
    for (gathered, row) in gathered.chunks_exact_mut(d).zip(rows) {
        gathered.copy_from_slice(&x[row as usize * d..][..d]);
    }
}
