//! Products of matrices, some of which are triangular.

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::iter::{IndexedParallelIterator, ParallelIterator};

pub(crate) use BlockStructure::{Rectangular as FULL, TriangularLower as LOWER, TriangularUpper as UPPER};

/// Columns of one task.
const CHUNK: usize = 64;

/// A matrix, and its nonzero part.
pub(crate) type Part<'a> = (MatRef<'a, f64>, BlockStructure);
/// As [`Part`], to write to.
pub(crate) type PartMut<'a> = (MatMut<'a, f64>, BlockStructure);

/// dst = [dst +] alpha a b, on one thread.
pub(crate) fn product(dst: PartMut<'_>, accum: Accum, a: Part<'_>, b: Part<'_>, alpha: f64) {
    triangular::matmul(dst.0, dst.1, accum, a.0, a.1, b.0, b.1, alpha, Par::Seq);
}

/// dst = [dst +] alpha a b for whole matrices, on all threads.
pub(crate) fn dense_product(dst: &mut Mat<f64>, accum: Accum, a: &Mat<f64>, b: &Mat<f64>, alpha: f64) {
    parallel_product((dst.as_mut(), FULL), accum, (a.as_ref(), FULL), (b.as_ref(), FULL), alpha);
}

/// dst = [dst +] alpha a b, on all threads.
///
/// Each task computes a few columns of dst. faer's own threads wait for one another, which takes twice the time of a single
/// thread if the machine is busy. Triangles must be zero elsewhere. The other half of a triangular `dst` is undefined.
pub(crate) fn parallel_product((dst, dst_part): PartMut<'_>, accum: Accum, a: Part<'_>, b: Part<'_>, alpha: f64) {
    let (rows, inner) = a.0.shape();
    dst.par_col_chunks_mut(CHUNK).enumerate().for_each(|(index, chunk)| {
        let (first, width) = (index * CHUNK, chunk.ncols());
        let top = if dst_part == LOWER { first } else { 0 };
        let (from, to) = match b.1 {
            LOWER => (first, inner),
            UPPER => (0, first + width),
            _ => (0, inner),
        };
        // A square block on the diagonal of a triangle is triangular, too.
        let is_triangle = top == from && rows - top == to - from;
        let left = (a.0.submatrix(top, from, rows - top, to - from), if is_triangle { a.1 } else { FULL });
        let right = (b.0.submatrix(from, first, to - from, width), FULL);
        product((chunk.subrows_mut(top, rows - top), FULL), accum, left, right, alpha);
    });
}
