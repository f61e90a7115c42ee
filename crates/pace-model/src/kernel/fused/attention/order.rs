//! The two orders of the D columns of queries, keys and values, and what attention does with one row of them.

use super::gather::{Gather, Place, Terms};
use super::softmax::passed;
use crate::kernel::fused::simd::{LANES, Simd, dot, get, put};

/// The order of the D columns of queries, keys and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// (position in head, head): the heads are lanes, see [`ByLane`].
    Lanes,
    /// (head, position in head): the usual one, see [`ByHead`].
    Heads,
}

impl Order {
    /// Moves every run of D values from the usual order to this one.
    pub(crate) fn arrange(self, values: &[f32], d: usize, n_heads: usize) -> Vec<f32> {
        match self {
            Self::Heads => values.to_vec(),
            Self::Lanes => transpose_runs(values, d, n_heads),
        }
    }

    /// The inverse of [`Order::arrange`].
    pub(crate) fn restore(self, values: &[f32], d: usize, n_heads: usize) -> Vec<f32> {
        match self {
            Self::Heads => values.to_vec(),
            Self::Lanes => transpose_runs(values, d, d / n_heads),
        }
    }
}

/// Whether the heads can be lanes: their number must divide the lanes of a vector.
pub(crate) fn has_lanes(n_heads: usize) -> bool {
    matches!(n_heads, 4 | 8 | 16)
}

/// Each run of d values, read as [rows, d / rows], transposed.
fn transpose_runs(values: &[f32], d: usize, rows: usize) -> Vec<f32> {
    let mut out = vec![0.0; values.len()];
    for (out, run) in out.chunks_exact_mut(d).zip(values.chunks_exact(d)) {
        match (rows, d / rows) {
            // Known bounds make it a handful of shuffles; this runs on all weights, twice a step.
            (8, 8) => transpose(out, run, 8, 8),
            (rows, columns) => transpose(out, run, rows, columns),
        }
    }
    out
}

#[inline(always)]
fn transpose(out: &mut [f32], run: &[f32], rows: usize, columns: usize) {
    let (out, run) = (&mut out[..rows * columns], &run[..rows * columns]);
    for column in 0..columns {
        for row in 0..rows {
            out[column * rows + row] = run[row * columns + column];
        }
    }
}

/// What attention does with rows of D columns in one order. Weights are [.., H] in both.
pub(crate) trait Heads<S: Simd>: Copy {
    /// H.
    fn n_heads(self) -> usize;

    /// `w` [rows, H] = scale * (q x) of every head, for every row x.
    fn scores<P: Place>(self, s: S, w: &mut [f32], q: &[f32], rows: Gather<'_, P>, scale: f32);

    /// out = sum of w x over all terms. If `KEPT`, every weight goes through [`passed`](super::softmax::passed) first.
    fn mix<P: Place, const KEPT: bool>(self, s: S, out: &mut [f32], terms: Terms<'_, P>, keep_scale: f32);
}

/// Columns by (position in head, head), for 4, 8 or 16 heads.
///
/// The values of all heads at one position lie side by side, so a vector holds some positions of all heads. Every step of attention
/// then does the same in all lanes: there are no transposed copies and no padding, and the only horizontal sum is the one over the
/// positions of a vector.
#[derive(Clone, Copy)]
pub(crate) struct ByLane<const H: usize>;

impl<S: Simd, const H: usize> Heads<S> for ByLane<H> {
    #[inline(always)]
    fn n_heads(self) -> usize {
        H
    }

    #[inline(always)]
    fn scores<P: Place>(self, s: S, w: &mut [f32], q: &[f32], rows: Gather<'_, P>, scale: f32) {
        let scale = s.splat(scale);
        let (d, count) = (q.len(), w.len() / H);
        // The scores of as many keys as fit go into one vector, so that the next loop reads whole vectors.
        for block in 0..w.len().div_ceil(LANES) {
            let first = block * (LANES / H);
            let mut v = s.zero();
            for part in 0..LANES / H {
                if part == 0 || first + part < count {
                    let score = s.mul(s.across::<H>(dot(s, q, rows.row(first + part, d))), scale);
                    v = s.select(s.lanes(part * H, (part + 1) * H), score, v);
                }
            }
            put(s, v, w, block);
        }
    }

    #[inline(always)]
    fn mix<P: Place, const KEPT: bool>(self, s: S, out: &mut [f32], terms: Terms<'_, P>, keep_scale: f32) {
        let vectors = out.len().div_ceil(LANES);
        let mut first = 0;
        while first + 4 <= vectors {
            mix_vectors::<S, P, H, 4, KEPT>(s, out, first, terms, keep_scale);
            first += 4;
        }
        for first in first..vectors {
            mix_vectors::<S, P, H, 1, KEPT>(s, out, first, terms, keep_scale);
        }
    }
}

/// G vectors of [`Heads::mix`], with their sums in registers.
#[inline(always)]
fn mix_vectors<S: Simd, P: Place, const H: usize, const G: usize, const KEPT: bool>(
    s: S,
    out: &mut [f32],
    first: usize,
    terms: Terms<'_, P>,
    keep_scale: f32,
) {
    let (keep_scale, d) = (s.splat(keep_scale), out.len());
    let mut sums = [s.zero(); G];
    for index in 0..terms.rows.places.len() {
        let (w, row) = (terms.weight::<H>(index), terms.rows.row(index, d));
        let w = s.repeat::<H>(w);
        let w = if KEPT { passed(s, w, w, keep_scale) } else { w };
        for (g, sum) in sums.iter_mut().enumerate() {
            *sum = s.fma(w, get(s, row, first + g), *sum);
        }
    }
    for (g, sum) in sums.into_iter().enumerate() {
        put(s, sum, out, first + g);
    }
}

/// Columns by (head, position in head), for any number of heads.
#[derive(Clone, Copy)]
pub(crate) struct ByHead {
    pub(crate) n_heads: usize,
    pub(crate) d_head: usize,
}

impl ByHead {
    /// Whether a vector holds two heads.
    #[inline(always)]
    fn is_paired(self) -> bool {
        self.d_head == 8 && self.n_heads.is_multiple_of(2)
    }
}

impl<S: Simd> Heads<S> for ByHead {
    #[inline(always)]
    fn n_heads(self) -> usize {
        self.n_heads
    }

    #[inline(always)]
    fn scores<P: Place>(self, s: S, w: &mut [f32], q: &[f32], rows: Gather<'_, P>, scale: f32) {
        for (index, w) in w.chunks_exact_mut(self.n_heads).enumerate() {
            let row = rows.row(index, q.len());
            if self.is_paired() {
                for (pair, w) in w.chunks_exact_mut(2).enumerate() {
                    let v = s.mul(get(s, q, pair), get(s, row, pair));
                    let v = s.add(v, s.swap::<4>(v));
                    let v = s.add(v, s.swap::<2>(v));
                    let v = s.mul(s.add(v, s.swap::<1>(v)), s.splat(scale));
                    (w[0], w[1]) = (s.first(v), s.first(s.swap::<8>(v)));
                }
                continue;
            }
            let heads = q.chunks_exact(self.d_head).zip(row.chunks_exact(self.d_head));
            for (w, (q, row)) in w.iter_mut().zip(heads) {
                *w = s.total(dot(s, q, row)) * scale;
            }
        }
    }

    #[inline(always)]
    fn mix<P: Place, const KEPT: bool>(self, s: S, out: &mut [f32], terms: Terms<'_, P>, keep_scale: f32) {
        let (keep_scale, d) = (s.splat(keep_scale), out.len());
        let width = if self.is_paired() { 2 * self.d_head } else { self.d_head };
        let low = s.lanes(0, 8);
        for (part, out) in out.chunks_exact_mut(width).enumerate() {
            for vector in 0..width.div_ceil(LANES) {
                let mut sum = s.zero();
                for index in 0..terms.rows.places.len() {
                    let (w, row) = (terms.weights(index, self.n_heads), terms.rows.row(index, d));
                    let w = match self.is_paired() {
                        true => s.select(low, s.splat(w[2 * part]), s.splat(w[2 * part + 1])),
                        false => s.splat(w[part]),
                    };
                    let w = if KEPT { passed(s, w, w, keep_scale) } else { w };
                    sum = s.fma(w, get(s, &row[part * width..][..width], vector), sum);
                }
                put(s, sum, out, vector);
            }
        }
    }
}
