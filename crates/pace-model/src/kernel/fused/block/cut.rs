//! The cut of a batch into groups, one per task, and chunks, which stay in cache.
//!
//! The cut depends on shapes alone, so that results do not depend on the number of threads.

use rayon::prelude::{IntoParallelIterator, ParallelIterator};

use super::frame::Chunk;

/// Rows of activations that are taken through the stack together.
const CHUNK_ROWS: usize = 512;

/// Each group adds one copy of the weight gradients: enough groups to balance many cores, not so many that adding shows.
const MAX_GROUPS: usize = 32;

/// Graphs per group, and per chunk inside a group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    pub(crate) group: usize,
    pub(crate) chunk: usize,
}

impl Cut {
    /// For `batch` graphs of `n` rows of width `d`.
    pub(crate) fn new(batch: usize, n: usize, d: usize) -> Self {
        // A group's products should outweigh its share of the gradient sum, which is the size of the weights, d^2. But even a
        // small batch needs a few groups, for a few cores to share.
        let rows = batch * n;
        let least = rows / 128;
        let groups = (rows / (4 * d).max(128)).max(least.min(4)).clamp(1, MAX_GROUPS);
        // Even, or one thread of two ends alone.
        let groups = groups.next_multiple_of(2).min(rows.div_ceil(64));
        let group = batch.div_ceil(groups).max(1);
        let chunks = (group * n).div_ceil(CHUNK_ROWS).max(1);
        Self { group, chunk: group.div_ceil(chunks).max(1) }
    }

    /// The chunks of every group of a batch of so many graphs.
    pub(crate) fn groups(self, batch: usize) -> Vec<Vec<Chunk>> {
        let chunks = |start: usize| {
            let end = batch.min(start + self.group);
            let chunk = |first: usize| Chunk { first, graphs: self.chunk.min(end - first) };
            (start..end).step_by(self.chunk).map(chunk).collect()
        };
        (0..batch).step_by(self.group).map(chunks).collect()
    }
}

/// Cuts values of `width` numbers per graph into the parts of the groups.
pub(crate) fn by_group<'m>(values: &'m mut [f32], groups: &[Vec<Chunk>], width: usize) -> Vec<&'m mut [f32]> {
    let graphs = |group: &Vec<Chunk>| group.iter().map(|chunk| chunk.graphs).sum::<usize>();
    split(values, groups.iter().map(|group| graphs(group) * width))
}

/// Cuts a slice into parts of the given lengths.
pub(crate) fn split(mut values: &mut [f32], lengths: impl Iterator<Item = usize>) -> Vec<&mut [f32]> {
    let part = |length| {
        let (part, rest) = std::mem::take(&mut values).split_at_mut(length);
        values = rest;
        part
    };
    lengths.map(part).collect()
}

/// Runs `f` on every group of a batch cut by [`Cut`], in parallel, and keeps the order of the results.
pub(crate) fn map_groups<T: Send>(batch: usize, cut: Cut, f: impl Fn(Chunk) -> T + Sync + Send) -> Vec<T> {
    let groups = batch.div_ceil(cut.group);
    (0..groups)
        .into_par_iter()
        .map(|group| {
            let first = group * cut.group;
            f(Chunk { first, graphs: cut.group.min(batch - first) })
        })
        .collect()
}
