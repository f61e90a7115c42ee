//! Attention along lists of keys, over packed rows: the case of trees, and of equal pasts.
//!
//! The work is in proportion to the pairs; on trees it is a few percent of the linear maps around it. Rows are gathered by number
//! and never copied. [`training`] keeps its weights for a backward pass, [`inference`] keeps nothing. [`projection`] leaves out the
//! queries that nobody needs, and [`whole_batch`] is attention by itself.

mod inference;
mod projection;
mod training;
mod whole_batch;

pub(crate) use inference::{Along, Queries, attend};
pub(crate) use projection::{Projection, project};
pub(crate) use training::{Backward, backward, backward_keys, backward_queries, forward};
pub(crate) use whole_batch::{SparseOp, SparseShape};

use super::gather::{Gather, Place};
use super::order::Order;
use crate::kernel::dropout::Site;
use crate::kernel::fused::block::Chunk;
use crate::kernel::fused::block::cut::Cut;
use crate::kernel::pair_lists::{Lists, Reader};

/// Sizes, lists and dropout of the attention of one chunk of rows.
#[derive(Clone, Copy)]
pub(crate) struct Sparse<'a> {
    pub(crate) lists: &'a Lists,
    /// The row of the seam before the chunk. Projections begin here, because the chunk may read any row between its two seams.
    /// Dropout counts from the first pair of all.
    pub(crate) origin: usize,
    /// First row of the chunk.
    pub(crate) first: usize,
    pub(crate) rows: usize,
    pub(crate) d: usize,
    pub(crate) n_heads: usize,
    pub(crate) site: Site,
    /// Of the columns of queries, keys and values.
    pub(crate) order: Order,
}

impl Sparse<'_> {
    /// How many weights forward keeps: [pairs of the chunk, H].
    pub(crate) fn n_weights(&self) -> usize {
        (self.lists.pair(self.first + self.rows) - self.lists.pair(self.first)) * self.n_heads
    }

    /// 1 / sqrt(D/H).
    #[inline(always)]
    fn scale(&self) -> f32 {
        1.0 / ((self.d / self.n_heads) as f32).sqrt()
    }

    /// The keys of a row of the chunk, and the index of their first weight among those of the chunk.
    #[inline(always)]
    fn keys(&self, row: usize) -> (&[u32], usize) {
        let pair = self.lists.pair(self.first + row);
        (self.lists.keys(self.first + row), (pair - self.lists.pair(self.first)) * self.n_heads)
    }

    /// One [`third`] of some rows, from the packed projections since the origin.
    #[inline(always)]
    fn part<'q, P: Place>(&self, qkv: &'q [f32], places: &'q [P], third: usize, d: usize) -> Gather<'q, P> {
        Gather { places, data: &qkv[third * d..], stride: 3 * d, origin: self.origin }
    }
}

/// The thirds of a packed projection, [rows, 3D].
mod third {
    pub(super) const QUERIES: usize = 0;
    pub(super) const KEYS: usize = 1;
    pub(super) const VALUES: usize = 2;
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

/// Groups of chunks of packed rows, each between two seams, as even as these allow.
///
/// The lists and D alone decide, not the number of threads.
pub(crate) fn groups(lists: &Lists, d: usize) -> Vec<Vec<Chunk>> {
    let rows = lists.n_rows();
    let cut = Cut::new(rows, 1, d);
    let mut groups = vec![Vec::new(); rows.div_ceil(cut.group)];
    for seam in lists.seams().windows(2) {
        let (first, end) = (seam[0] as usize, seam[1] as usize);
        let chunks = &mut groups[(first + end) / 2 / cut.group];
        match chunks.last_mut() {
            Some(Chunk { graphs, .. }) if *graphs + (end - first) / 2 <= cut.chunk => *graphs += end - first,
            _ => chunks.push(Chunk { first, graphs: end - first }),
        }
    }
    groups.retain(|chunks| !chunks.is_empty());
    groups
}
