//! Dense algebra on square matrices, in the few shapes that the sparse Gaussian processes need.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltError, LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::triangular;
use faer::linalg::matmul::triangular::BlockStructure;
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Accum, Mat, MatMut, MatRef, Par, Spec};

pub(crate) use BlockStructure::{Rectangular as FULL, TriangularLower as LOWER, TriangularUpper as UPPER};

/// All threads of the current pool.
pub(crate) fn all_threads() -> Par {
    match rayon::current_num_threads() {
        1 => Par::Seq,
        n => Par::rayon(n),
    }
}

/// dst = [dst +] alpha a b, where each matrix is full or a triangle.
pub(crate) fn product(
    (dst, dst_shape): (MatMut<'_, f64>, BlockStructure),
    accum: Accum,
    (a, a_shape): (MatRef<'_, f64>, BlockStructure),
    (b, b_shape): (MatRef<'_, f64>, BlockStructure),
    alpha: f64,
    par: Par,
) {
    triangular::matmul(dst, dst_shape, accum, a, a_shape, b, b_shape, alpha, par);
}

/// L of A = L L^T, given the lower triangle of A; the error is the index of the pivot that is not positive.
pub(crate) fn cholesky(mut a: Mat<f64>) -> Result<Mat<f64>, usize> {
    let (n, par) = (a.nrows(), all_threads());
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(n, par, Spec::default()));
    let stack = MemStack::new(&mut memory);
    cholesky_in_place(a.as_mut(), LltRegularization::default(), par, stack, Spec::default())
        .map_err(|LltError::NonPositivePivot { index }| index)?;
    if let Some(pivot) = (0..n).find(|&i| !a[(i, i)].is_finite()) {
        return Err(pivot);
    }
    for j in 1..n {
        a.col_as_slice_mut(j)[..j].fill(0.0);
    }
    Ok(a)
}

/// The inverse of a lower triangle, which is one.
pub(crate) fn invert_lower(lower: &Mat<f64>) -> Mat<f64> {
    let mut inverse = Mat::zeros(lower.nrows(), lower.nrows());
    invert_lower_triangular(inverse.as_mut(), lower.as_ref(), all_threads());
    inverse
}

/// log |L L^T|.
pub(crate) fn log_det(lower: &Mat<f64>) -> f64 {
    2.0 * lower.diagonal().column_vector().iter().map(|pivot| pivot.ln()).sum::<f64>()
}

/// Copies the lower triangle to the upper one.
pub(crate) fn mirror(a: &mut Mat<f64>) {
    for j in 0..a.ncols() {
        for i in j + 1..a.nrows() {
            a[(j, i)] = a[(i, j)];
        }
    }
}

/// L^T L, full.
pub(crate) fn gram_of_lower(lower: &Mat<f64>) -> Mat<f64> {
    let mut gram = Mat::zeros(lower.nrows(), lower.nrows());
    let factors = ((lower.transpose(), UPPER), (lower.as_ref(), LOWER));
    product((gram.as_mut(), LOWER), Accum::Replace, factors.0, factors.1, 1.0, all_threads());
    mirror(&mut gram);
    gram
}

/// L^T S L for a lower triangle L and a symmetric S, both given in full; full.
pub(crate) fn inside(lower: &Mat<f64>, s: &Mat<f64>) -> Mat<f64> {
    let n = s.nrows();
    let (mut half, mut whole) = (Mat::zeros(n, n), Mat::zeros(n, n));
    let l = lower.as_ref();
    product((half.as_mut(), FULL), Accum::Replace, (s.as_ref(), FULL), (l, LOWER), 1.0, all_threads());
    product((whole.as_mut(), LOWER), Accum::Replace, (l.transpose(), UPPER), (half.as_ref(), FULL), 1.0, all_threads());
    mirror(&mut whole);
    whole
}

/// L S L^T for a lower triangle L and a symmetric S, both given in full; only the lower triangle is set.
pub(crate) fn outside(lower: &Mat<f64>, s: &Mat<f64>) -> Mat<f64> {
    let n = s.nrows();
    let (mut half, mut whole) = (Mat::zeros(n, n), Mat::zeros(n, n));
    let l = lower.as_ref();
    product((half.as_mut(), FULL), Accum::Replace, (l, LOWER), (s.as_ref(), FULL), 1.0, all_threads());
    product((whole.as_mut(), LOWER), Accum::Replace, (half.as_ref(), FULL), (l.transpose(), UPPER), 1.0, all_threads());
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
