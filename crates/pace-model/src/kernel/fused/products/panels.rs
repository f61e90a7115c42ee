//! [`Panels`]: a matrix W laid out so that the tiles of x W read contiguous memory only.
//!
//! The matrix is cut into panels of as many columns as a tile has, each stored row after row. A step or an encoding lays its
//! weights out once and multiplies many chunks of rows by them, each small enough to stay in the second cache.

use rayon::prelude::{IntoParallelIterator, ParallelIterator};

use super::Mat;
use super::tile::{Finish, Left, Panel, by_rows};
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::simd::{LANES, level};

/// Matrices of at least so many numbers are laid out by all threads.
const SHARED: usize = 1 << 17;

/// A matrix [K, N] in panels.
#[derive(Debug, Default)]
pub(crate) struct Panels {
    k: usize,
    n: usize,
    /// Columns of every panel but the last, which has the rest.
    width: usize,
    /// Panel after panel, each [K, whole vectors], the last vector filled up with zeros.
    values: Buffer,
}

impl Panels {
    /// Lays out a row-major matrix with `k` rows.
    pub(crate) fn new(weight: &[f32], k: usize) -> Self {
        let n = weight.len() / k;
        Self::of(Mat::new(weight, n), k, n)
    }

    /// Lays out the transpose of a row-major matrix with `n` rows.
    pub(crate) fn transposed(weight: &[f32], n: usize) -> Self {
        let k = weight.len() / n;
        Self::of(Mat::new(weight, k).t(), k, n)
    }

    /// Lays out any matrix [K, N].
    pub(crate) fn of(matrix: Mat<'_>, k: usize, n: usize) -> Self {
        let width = level().tile_vectors() * LANES;
        let mut panels = Self { k, n, width, values: Buffer::stale(k * n.next_multiple_of(LANES)) };
        let mut rest = &mut panels.values[..];
        let parts = (0..n).step_by(width).map(|first| {
            let columns = width.min(n - first);
            let (panel, others) = std::mem::take(&mut rest).split_at_mut(k * columns.next_multiple_of(LANES));
            rest = others;
            (first, columns, panel)
        });
        if k * n < SHARED {
            parts.for_each(|(first, columns, panel)| lay_out(matrix, first, columns, panel));
        } else {
            let parts: Vec<(usize, usize, &mut [f32])> = parts.collect();
            parts.into_par_iter().for_each(|(first, columns, panel)| lay_out(matrix, first, columns, panel));
        }
        panels
    }

    /// Columns of the matrix.
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    /// The panels and their first columns.
    pub(crate) fn panels(&self) -> impl Iterator<Item = (usize, Panel<'_>)> {
        let mut rest = &self.values[..];
        (0..self.n).step_by(self.width.max(1)).map(move |first| {
            let columns = self.width.min(self.n - first);
            let stored = columns.next_multiple_of(LANES);
            let (values, others) = rest.split_at(self.k * stored);
            rest = others;
            (first, Panel { values, stride: stored, vectors: stored / LANES, columns })
        })
    }

    /// x W, finished; `finish.bias` is that of all columns. Shapes: x [rows, K] -> `out` [rows, N] with `stride` between rows.
    ///
    /// A row's product does not depend on the rows around it.
    pub(crate) fn product(&self, x: &[f32], out: &mut [f32], stride: usize, finish: Finish<'_>) {
        let left = Left { values: x, stride: self.k, m: x.len() / self.k.max(1), k: self.k };
        self.times(left, out, stride, finish);
    }

    /// [`Panels::product`] of a left matrix by rows that is part of a wider one.
    pub(crate) fn times(&self, left: Left<'_>, out: &mut [f32], stride: usize, finish: Finish<'_>) {
        assert_eq!(left.k, self.k, "the inner sizes of a product differ");
        if left.m == 0 {
            return;
        }
        for (first, panel) in self.panels() {
            let bias = if finish.bias.is_empty() { &[] } else { &finish.bias[first..first + panel.columns] };
            by_rows(left, panel, &mut out[first..], stride, Finish { bias, ..finish });
        }
    }
}

/// Writes some columns of a matrix as a panel, [K, whole vectors].
fn lay_out(matrix: Mat<'_>, first: usize, columns: usize, panel: &mut [f32]) {
    let stored = columns.next_multiple_of(LANES);
    if columns < stored {
        panel.fill(0.0);
    }
    let k = panel.len() / stored;
    match matrix.row_of(0, first) {
        Some(_) => {
            for (row, panel) in panel.chunks_exact_mut(stored).enumerate() {
                let from = matrix.row_of(row, first).expect("a matrix by rows");
                copy(&mut panel[..columns], &from[..columns]);
            }
        }
        None => {
            for column in (0..columns).step_by(LANES) {
                let columns = column..columns.min(column + LANES);
                transpose(panel, stored, columns.start, columns.map(|c| matrix.column_of(first + c, k)));
            }
        }
    }
}

/// Copies a row. If its length is a constant, that is a few instructions instead of a call of the library.
#[inline(always)]
fn copy(to: &mut [f32], from: &[f32]) {
    fn known<const W: usize>(to: &mut [f32], from: &[f32]) {
        *to.first_chunk_mut::<W>().expect("W numbers") = *from.first_chunk::<W>().expect("W numbers");
    }
    match to.len() {
        LANES => known::<LANES>(to, from),
        64 => known::<64>(to, from),
        _ => to.copy_from_slice(from),
    }
}

/// Writes up to 16 columns of length K side by side, from column `at` of a panel on.
fn transpose<'a>(panel: &mut [f32], stride: usize, at: usize, columns: impl ExactSizeIterator<Item = &'a [f32]>) {
    const ROWS: usize = 16;
    let (count, mut from) = (columns.len(), [&[] as &[f32]; LANES]);
    from.iter_mut().zip(columns).for_each(|(from, column)| *from = column);
    for (block, panel) in panel.chunks_mut(ROWS * stride).enumerate() {
        let rows = panel.len() / stride;
        // By way of the stack, so that both sides are read and written in order.
        let mut square = [[0.0; LANES]; ROWS];
        for (column, from) in from[..count].iter().enumerate() {
            for (square, value) in square.iter_mut().zip(&from[block * ROWS..][..rows]) {
                square[column] = *value;
            }
        }
        for (panel, square) in panel.chunks_exact_mut(stride).zip(&square) {
            match panel[at..].first_chunk_mut::<LANES>() {
                Some(whole) => *whole = *square,
                None => unreachable!("panels hold whole vectors"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Panels;
    use crate::kernel::fused::products::tile::Finish;
    use crate::kernel::fused::products::{Into, Mat, PLAIN, product};

    fn values(count: usize, step: usize) -> Vec<f32> {
        (0..count).map(|index| (index * step % 97) as f32 * 0.02 - 0.97).collect()
    }

    fn transposed(matrix: &[f32], columns: usize) -> Vec<f32> {
        (0..matrix.len())
            .map(|index| matrix[index % (matrix.len() / columns) * columns + index / (matrix.len() / columns)])
            .collect()
    }

    fn close(got: &[f32], want: &[f32]) {
        assert_eq!(got.len(), want.len());
        assert!(got.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-4), "{got:?} instead of {want:?}");
    }

    /// x W + b by definition, in double precision.
    fn defined([m, k, n]: [usize; 3], x: &[f32], w: &[f32], bias: &[f32]) -> Vec<f32> {
        let sum = |i: usize, j: usize| (0..k).map(|l| f64::from(x[i * k + l]) * f64::from(w[l * n + j])).sum::<f64>();
        (0..m * n).map(|index| (sum(index / n, index % n) + f64::from(bias[index % n])) as f32).collect()
    }

    /// Every number of rows left over, full and partial panels and vectors, both layouts of either side.
    #[test]
    fn products_are_those_of_the_matrices() {
        for [k, n] in [[5, 3], [64, 64], [8, 40], [17, 70], [131, 16], [300, 129], [500, 270]] {
            for m in 1..=13 {
                let (x, w, bias) = (values(m * k, 7), values(k * n, 11), values(n, 5));
                let want = defined([m, k, n], &x, &w, &bias);
                for panels in [Panels::new(&w, k), Panels::transposed(&transposed(&w, n), n)] {
                    let mut out = vec![f32::NAN; m * n];
                    panels.product(&x, &mut out, n, Finish { bias: &bias, ..PLAIN });
                    close(&out, &want);
                    panels.product(&x, &mut out, n, Finish { bias: &bias, relu: true, ..PLAIN });
                    close(&out, &want.iter().map(|value| value.max(0.0)).collect::<Vec<_>>());
                }
                let (columns, turned) = (transposed(&x, k), transposed(&w, n));
                let unbiased = defined([m, k, n], &x, &w, &vec![0.0; n]);
                for left in [Mat::new(&x, k), Mat::new(&columns, m).t()] {
                    for right in [Mat::new(&w, n), Mat::new(&turned, k).t()] {
                        let mut out = vec![1.0; m * n];
                        product([m, k, n], &mut out, n, Into::Replace, left, right, 1.0);
                        close(&out, &unbiased);
                        product([m, k, n], &mut out, n, Into::Add, left, right, -0.5);
                        close(&out, &unbiased.iter().map(|value| 0.5 * value).collect::<Vec<_>>());
                    }
                }
            }
        }
    }

    /// Blocks of any size give the same bits, and a stride leaves what is between the rows alone.
    #[test]
    fn rows_do_not_depend_on_each_other() {
        let (x, w, bias) = (values(10 * 64, 3), values(64 * 64, 13), values(64, 9));
        let panels = Panels::of(Mat::new(&w[16..], 64), 64, 48);
        let finish = Finish { bias: &bias[16..], relu: true, ..PLAIN };
        let mut whole = vec![0.0; 10 * 48];
        panels.product(&x, &mut whole, 48, finish);
        for (x, whole) in x.chunks(3 * 64).zip(whole.chunks(3 * 48)) {
            let mut strided = vec![7.0; x.len()];
            panels.product(x, &mut strided, 64, finish);
            for (strided, whole) in strided.chunks(64).zip(whole.chunks(48)) {
                assert_eq!(strided[..48], *whole);
                assert_eq!(strided[48..], [7.0; 16]);
            }
        }
    }
}
