//! Attention along lists that keeps nothing, with the heads as lanes.

use crate::kernel::fused::attention::gather::{Gather, Terms};
use crate::kernel::fused::attention::order::{ByLane, Heads};
use crate::kernel::fused::attention::softmax::exponentials;
use crate::kernel::fused::simd::{Simd, kernel, map};

/// The rows to compute, and their keys.
pub(crate) struct Along<'a> {
    /// Indices of the rows.
    pub(crate) rows: &'a [u32],
    /// Row r attends to `keys[offsets[r]..offsets[r + 1]]`.
    pub(crate) offsets: &'a [u32],
    pub(crate) keys: &'a [u32],
    /// Which of the rows have a query.
    pub(crate) queries: Queries,
    /// The index of the first row of keys and values.
    pub(crate) origin: usize,
    pub(crate) d: usize,
    pub(crate) n_heads: usize,
}

/// Which rows have a query. One with a single key gives it all of its attention and needs none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Queries {
    /// All of them.
    OfAll,
    /// Those with several keys.
    OfSeveralKeys,
}

impl Along<'_> {
    /// The keys of a row.
    #[inline(always)]
    pub(crate) fn of(&self, row: u32) -> &[u32] {
        &self.keys[self.offsets[row as usize] as usize..self.offsets[row as usize + 1] as usize]
    }
}

kernel! {
    /// `q` [rows with a query, D], `kv` keys and values side by side [rows since the origin, 2D] -> `out` [rows, D].
    ///
    /// A row without keys gives zeros. `weights` is scratch.
    fn attend(a: &Along<'_>, q: &[f32], kv: &[f32], weights: &mut Vec<f32>, out: &mut [f32]) = attend_body
}

#[inline(always)]
fn attend_body<S: Simd>(s: S, a: &Along<'_>, q: &[f32], kv: &[f32], weights: &mut Vec<f32>, out: &mut [f32]) {
    // With the sizes known, a row stays in registers.
    match (a.n_heads, a.d) {
        (8, 64) => attend_of::<S, 8>(s, a, 64, q, kv, weights, out),
        (8, 256) => attend_of::<S, 8>(s, a, 256, q, kv, weights, out),
        (8, d) => attend_of::<S, 8>(s, a, d, q, kv, weights, out),
        (4, d) => attend_of::<S, 4>(s, a, d, q, kv, weights, out),
        (16, d) => attend_of::<S, 16>(s, a, d, q, kv, weights, out),
        (n_heads, _) => unreachable!("{n_heads} heads have no lane kernel"),
    }
}

#[inline(always)]
fn attend_of<S: Simd, const H: usize>(
    s: S,
    a: &Along<'_>,
    d: usize,
    q: &[f32],
    kv: &[f32],
    weights: &mut Vec<f32>,
    out: &mut [f32],
) {
    let scale = 1.0 / ((d / H) as f32).sqrt();
    let longest = a.rows.iter().map(|&row| a.of(row).len()).max().unwrap_or(0);
    weights.resize(weights.len().max(longest * H), 0.0);
    let mut queries = q.chunks_exact(d);
    for (&row, out) in a.rows.iter().zip(out.chunks_exact_mut(d)) {
        let list = a.of(row);
        let query = if list.len() > 1 || a.queries == Queries::OfAll { queries.next() } else { None };
        // Keys (0) or values (1) of a row.
        let part = |part: usize| Gather { places: list, data: &kv[part * d..], stride: 2 * d, origin: a.origin };
        match list {
            [] => out.fill(0.0),
            [_] => out.copy_from_slice(part(1).row(0, d)),
            list => {
                let (q, w) = (query.expect("rows with several keys have a query"), &mut weights[..list.len() * H]);
                ByLane::<H>.scores(s, w, q, part(0), scale);
                let inverse = exponentials::<S, H>(s, w);
                ByLane::<H>.mix::<_, false>(s, out, Terms { rows: part(1), weights: w, first: 0 }, 1.0);
                map!(s, out, [], |_, mixed, []| s.mul(mixed, inverse));
            }
        }
    }
}
