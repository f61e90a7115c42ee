//! Dense algebra on square matrices.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltError, LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Accum, Mat, Par, Spec};

use super::product::{FULL, LOWER, UPPER, parallel_product};
use super::scratch::Scratch;

/// Replaces the lower triangle of A by L with A = L L^T. The error is the index of the pivot that is not positive.
///
/// Uses one thread: with some hundred rows faer's own threads cost more than they gain.
pub(crate) fn cholesky(a: &mut Mat<f64>) -> Result<(), usize> {
    let n = a.nrows();
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(n, Par::Seq, Spec::default()));
    let stack = MemStack::new(&mut memory);
    cholesky_in_place(a.as_mut(), LltRegularization::default(), Par::Seq, stack, Spec::default())
        .map_err(|LltError::NonPositivePivot { index }| index)?;
    (0..n).find(|&i| !a[(i, i)].is_finite()).map_or(Ok(()), Err)
}

/// log |L L^T|.
pub(crate) fn log_det(lower: &Mat<f64>) -> f64 {
    2.0 * lower.diagonal().column_vector().iter().map(|pivot| pivot.ln()).sum::<f64>()
}

/// The inverse of a lower triangle, with zeros above its diagonal. Uses one thread, as [`cholesky`].
pub(crate) fn invert_lower(inverse: &mut Mat<f64>, lower: &Mat<f64>) {
    invert_lower_triangular(inverse.as_mut(), lower.as_ref(), Par::Seq);
    clear_upper(inverse);
}

/// Sets everything above the diagonal to zero.
pub(crate) fn clear_upper(a: &mut Mat<f64>) {
    (1..a.ncols()).for_each(|j| a.col_as_slice_mut(j)[..j].fill(0.0));
}

/// Copies the lower triangle to the upper one, in tiles that fit the cache.
pub(crate) fn mirror(a: &mut Mat<f64>) {
    const TILE: usize = 32;
    let n = a.nrows();
    for left in (0..n).step_by(TILE) {
        for top in (left..n).step_by(TILE) {
            for i in top..(top + TILE).min(n) {
                for j in left..(left + TILE).min(i) {
                    a[(j, i)] = a[(i, j)];
                }
            }
        }
    }
}

/// dst = [dst +] alpha L^T L for a lower triangle L. Only the lower triangle is set.
pub(crate) fn gram_of_lower(dst: &mut Mat<f64>, accum: Accum, lower: &Mat<f64>, alpha: f64) {
    let factors = ((lower.transpose(), UPPER), (lower.as_ref(), LOWER));
    parallel_product((dst.as_mut(), LOWER), accum, factors.0, factors.1, alpha);
}

/// L^T S L for a lower triangle L and a symmetric S; both S and the result are full.
pub(crate) fn inside(lower: &Mat<f64>, s: &Mat<f64>, scratch: &Scratch) -> Mat<f64> {
    let (n, l) = (s.nrows(), lower.as_ref());
    let [mut half, mut whole] = [(); 2].map(|()| scratch.take(n, n));
    parallel_product((half.as_mut(), FULL), Accum::Replace, (l.transpose(), UPPER), (s.as_ref(), FULL), 1.0);
    parallel_product((whole.as_mut(), LOWER), Accum::Replace, (half.as_ref(), FULL), (l, LOWER), 1.0);
    scratch.give([half]);
    mirror(&mut whole);
    whole
}

/// L S L^T for a lower triangle L and a symmetric S; both S and the result are full.
pub(crate) fn outside(lower: &Mat<f64>, s: &Mat<f64>, scratch: &Scratch) -> Mat<f64> {
    let (n, l) = (s.nrows(), lower.as_ref());
    let [mut half, mut whole] = [(); 2].map(|()| scratch.take(n, n));
    parallel_product((half.as_mut(), FULL), Accum::Replace, (l, LOWER), (s.as_ref(), FULL), 1.0);
    parallel_product((whole.as_mut(), LOWER), Accum::Replace, (half.as_ref(), FULL), (l.transpose(), UPPER), 1.0);
    scratch.give([half]);
    mirror(&mut whole);
    whole
}

/// A v.
pub(crate) fn times(a: &Mat<f64>, v: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; a.nrows()];
    for (j, &v) in v.iter().enumerate() {
        add_scaled(&mut sum, v, a.col_as_slice(j));
    }
    sum
}

/// A^T v.
pub(crate) fn transposed_times(a: &Mat<f64>, v: &[f64]) -> Vec<f64> {
    (0..a.ncols()).map(|j| dot(a.col_as_slice(j), v)).collect()
}

/// dst += scale v.
pub(crate) fn add_scaled(dst: &mut [f64], scale: f64, v: &[f64]) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || dst.iter_mut().zip(v).for_each(|(dst, v)| *dst += scale * v),
    );
}

/// a^T b.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
            let tail: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
            // Eight partial sums: a single one would be a chain of dependent additions.
            let mut sums = [0.0; 8];
            for (a, b) in a.zip(b) {
                (0..8).for_each(|lane| sums[lane] += a[lane] * b[lane]);
            }
            tail + sums.iter().sum::<f64>()
        },
    )
}
