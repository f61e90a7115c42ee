//! Points in units of the length-scales, and the covariances between them.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::reborrow::ReborrowMut;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::iter::{IndexedParallelIterator, ParallelIterator};

use super::Kernel;

/// Columns of one task.
const CHUNK: usize = 64;

/// Points divided by the length-scales, one per column, with their squared norms.
#[derive(Clone, Debug)]
pub(crate) struct Scaled {
    /// [D, n]
    points: Mat<f64>,
    norms: Vec<f64>,
}

impl Scaled {
    /// Rows of x [N, D] times `inverse_lengths` [D].
    pub(crate) fn new(x: MatRef<'_, f64>, rows: Range<usize>, inverse_lengths: &[f64]) -> Scaled {
        let mut points = Mat::zeros(x.ncols(), rows.len());
        for (d, &inverse) in inverse_lengths.iter().enumerate() {
            let column = x.col(d).subrows(rows.start, rows.len());
            points.row_mut(d).iter_mut().zip(column.iter()).for_each(|(scaled, &value)| *scaled = value * inverse);
        }
        let norms = (0..rows.len()).map(|i| points.col_as_slice(i).iter().map(|v| v * v).sum()).collect();
        Scaled { points, norms }
    }

    /// As [`new`](Self::new), for the rows of x A^T if there is a map A [K, D].
    pub(crate) fn mapped(
        x: MatRef<'_, f64>,
        rows: Range<usize>,
        map: Option<&Mat<f64>>,
        inverse_lengths: &[f64],
    ) -> Scaled {
        let Some(map) = map else { return Scaled::new(x, rows, inverse_lengths) };
        let n = rows.len();
        let mut mapped = Mat::zeros(n, map.nrows());
        matmul(&mut mapped, Accum::Replace, x.subrows(rows.start, n), map.transpose(), 1.0, Par::Seq);
        Scaled::new(mapped.as_ref(), 0..n, inverse_lengths)
    }

    /// [D, n]
    pub(crate) fn points(&self) -> MatRef<'_, f64> {
        self.points.as_ref()
    }

    pub(crate) fn len(&self) -> usize {
        self.norms.len()
    }

    /// Squared distances: row j and column i hold that of point j of `self` and point first + i of `others`.
    ///
    /// |z|^2 + |x|^2 - 2 z x takes one matrix product. Rounding may leave a small negative number, which kernels treat as 0.
    fn squared_distances(&self, others: &Scaled, first: usize, mut dst: MatMut<'_, f64>) {
        let points = others.points.subcols(first, dst.ncols());
        matmul(dst.rb_mut(), Accum::Replace, self.points.transpose(), points, -2.0, Par::Seq);
        for (column, &norm) in dst.col_iter_mut().zip(&others.norms[first..]) {
            let column = column.try_as_col_major_mut().expect("a matrix of our own is column-major").as_slice_mut();
            column.iter_mut().zip(&self.norms).for_each(|(r2, own)| *r2 += own + norm);
        }
    }

    /// Squared distances of these points, [n, n]. A rounding error below 0 stays.
    pub(crate) fn own_squared_distances(&self) -> Mat<f64> {
        let mut distances = Mat::zeros(self.len(), self.len());
        self.squared_distances(self, 0, distances.as_mut());
        distances
    }

    /// Covariances k(z_j, x_i) [n, others].
    pub(crate) fn covariance(&self, others: &Scaled, kernel: Kernel, variance: f64, mut dst: MatMut<'_, f64>) {
        self.squared_distances(others, 0, dst.rb_mut());
        for column in dst.col_iter_mut() {
            kernel.values(variance, column.try_as_col_major_mut().expect("as above").as_slice_mut());
        }
    }

    /// Covariances and their derivatives by the squared distance, both [n, others].
    pub(crate) fn covariance_and_slope(
        &self,
        others: &Scaled,
        kernel: Kernel,
        variance: f64,
        dst: MatMut<'_, f64>,
        slopes: MatMut<'_, f64>,
    ) {
        self.fill(others, 0, kernel, variance, dst, slopes);
    }

    /// As [`covariance_and_slope`](Self::covariance_and_slope) of these points with themselves, on all threads.
    pub(crate) fn own_covariance_and_slope(
        &self,
        kernel: Kernel,
        variance: f64,
        dst: &mut Mat<f64>,
        slopes: &mut Mat<f64>,
    ) {
        let chunks = dst.as_mut().par_col_chunks_mut(CHUNK).zip(slopes.as_mut().par_col_chunks_mut(CHUNK));
        let chunk = |(index, (dst, slopes))| self.fill(self, index * CHUNK, kernel, variance, dst, slopes);
        chunks.enumerate().for_each(chunk);
    }

    fn fill(
        &self,
        others: &Scaled,
        first: usize,
        kernel: Kernel,
        variance: f64,
        mut dst: MatMut<'_, f64>,
        slopes: MatMut<'_, f64>,
    ) {
        self.squared_distances(others, first, dst.rb_mut());
        for (values, slopes) in dst.col_iter_mut().zip(slopes.col_iter_mut()) {
            let values = values.try_as_col_major_mut().expect("as above").as_slice_mut();
            let slopes = slopes.try_as_col_major_mut().expect("as above").as_slice_mut();
            kernel.values_and_slopes(variance, values, slopes);
        }
    }
}
