//! Attention of some rows along their lists of keys, for inference: nothing is kept, and the heads are lanes.

use super::lanes;
use super::simd::multiversion;

/// Who attends to whom.
pub(crate) struct Along<'a> {
    /// The rows to compute.
    pub(crate) rows: &'a [u32],
    /// Row r looks at `keys[offsets[r]..offsets[r + 1]]`.
    pub(crate) offsets: &'a [u32],
    pub(crate) keys: &'a [u32],
    /// Whether there are queries of rows with a single key, too, which need none.
    pub(crate) all_ask: bool,
    /// The row of the first keys and values at hand.
    pub(crate) origin: usize,
    pub(crate) d: usize,
    pub(crate) n_heads: usize,
}

impl Along<'_> {
    /// The keys of a row.
    #[inline(always)]
    pub(crate) fn of(&self, row: u32) -> &[u32] {
        &self.keys[self.offsets[row as usize] as usize..self.offsets[row as usize + 1] as usize]
    }
}

multiversion! {
    /// Queries [rows that ask, D], keys and values side by side [rows since the origin, 2D] -> `out` [rows, D].
    ///
    /// A row with a single key gives it all of its attention and needs no query; one without any gives zeros. `weights` is
    /// scratch.
    fn attend(a: &Along<'_>, q: &[f32], kv: &[f32], weights: &mut Vec<f32>, out: &mut [f32]) = attend_body
}

#[inline(always)]
fn attend_body<const FMA: bool>(a: &Along<'_>, q: &[f32], kv: &[f32], weights: &mut Vec<f32>, out: &mut [f32]) {
    // With the sizes known, a head stays in registers.
    match (a.n_heads, a.d) {
        (8, 64) => attend_of::<8, 16, 4, FMA>(a, 64, q, kv, weights, out),
        (8, 256) => attend_of::<8, 16, 4, FMA>(a, 256, q, kv, weights, out),
        (8, d) if d.is_multiple_of(64) => attend_of::<8, 16, 4, FMA>(a, d, q, kv, weights, out),
        (8, d) => attend_of::<8, 8, 1, FMA>(a, d, q, kv, weights, out),
        (4, d) => attend_of::<4, 4, 1, FMA>(a, d, q, kv, weights, out),
        (16, d) => attend_of::<16, 16, 1, FMA>(a, d, q, kv, weights, out),
        (n_heads, _) => unreachable!("{n_heads} heads have no lane kernel"),
    }
}

#[inline(always)]
fn attend_of<const H: usize, const W: usize, const G: usize, const FMA: bool>(
    a: &Along<'_>,
    d: usize,
    q: &[f32],
    kv: &[f32],
    weights: &mut Vec<f32>,
    out: &mut [f32],
) {
    let longest = a.rows.iter().map(|&row| a.of(row).len()).max().unwrap_or(0);
    weights.resize(weights.len().max(longest * H), 0.0);
    let (weights, _) = weights.as_chunks_mut::<H>();
    let mut queries = q.chunks_exact(d);
    for (&row, out) in a.rows.iter().zip(out.chunks_exact_mut(d)) {
        let list = a.of(row);
        let query = if list.len() > 1 || a.all_ask { queries.next() } else { None };
        match list {
            [] => out.fill(0.0),
            [key] => out.copy_from_slice(&kv[(2 * (*key as usize - a.origin) + 1) * d..][..d]),
            list => {
                let q = query.expect("rows with several keys ask");
                lanes::along::<H, W, G, FMA>(q, list, a.origin, d, kv, out, &mut weights[..list.len()]);
            }
        }
    }
}
