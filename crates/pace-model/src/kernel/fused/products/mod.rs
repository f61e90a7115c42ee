//! Products of matrices on slices, one thread each: the caller already runs one chunk of rows per thread.
//!
//! Weights are laid out as [`Panels`] once per step, large ones by all threads; [`product`] takes any two matrices and lays the right one out if it must.

pub mod bench;
mod panels;
mod tile;

pub(crate) use panels::Panels;
pub(crate) use tile::{Finish, Left};
use tile::{Panel, by_columns};

use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::simd::{LANES, level};

/// Nothing but the product.
pub(crate) const PLAIN: Finish<'static> = Finish { add: false, scale: 1.0, bias: &[], relu: false };

/// A matrix inside a slice: element (i, j) is `data[i * row_stride + j * column_stride]`, one of the strides is 1.
#[derive(Clone, Copy)]
pub(crate) struct Mat<'a> {
    data: &'a [f32],
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Mat<'a> {
    /// Row-major with the given distance between rows.
    pub(crate) fn new(data: &'a [f32], row_stride: usize) -> Self {
        Self { data, row_stride, column_stride: 1 }
    }

    /// The transposed matrix, without moving anything.
    pub(crate) fn t(self) -> Self {
        Self { data: self.data, row_stride: self.column_stride, column_stride: self.row_stride }
    }

    /// Row `row` from `column` on, if rows are contiguous.
    fn row_of(&self, row: usize, column: usize) -> Option<&'a [f32]> {
        (self.column_stride == 1).then(|| &self.data[row * self.row_stride + column..])
    }

    /// The first `rows` numbers of a column of a matrix whose columns are contiguous.
    fn column_of(&self, column: usize, rows: usize) -> &'a [f32] {
        &self.data[column * self.column_stride..][..rows]
    }
}

/// Which way the weights of a map are about to be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// By [`linear`].
    Forward,
    /// By [`input_grad`].
    Backward,
}

impl Way {
    /// A weight [d_in, d_out], laid out for this way.
    pub(crate) fn panels(self, weight: &[f32], d_in: usize) -> Panels {
        match self {
            Self::Forward => Panels::new(weight, d_in),
            Self::Backward => Panels::transposed(weight, d_in),
        }
    }
}

/// What becomes of the old content of the destination.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Into {
    /// It is replaced.
    Replace,
    /// The product is added to it.
    Add,
}

/// dst = \[dst +\] scale * lhs rhs.
///
/// Shapes: dst [m, n] with `stride` between rows, lhs [m, k], rhs [k, n].
pub(crate) fn product(
    [m, k, n]: [usize; 3],
    dst: &mut [f32],
    stride: usize,
    into: Into,
    lhs: Mat<'_>,
    rhs: Mat<'_>,
    scale: f32,
) {
    let finish = Finish { add: into == Into::Add, scale, ..PLAIN };
    if m == 0 || n == 0 {
        return;
    }
    let left = |stride| Left { values: lhs.data, stride, m, k };
    if lhs.column_stride == 1 {
        return Panels::of(rhs, k, n).times(left(lhs.row_stride), dst, stride, finish);
    }
    // By columns, the loop reads one row of each side at a time, so the right matrix need not be laid out.
    let left = left(lhs.column_stride);
    let width = level().tile_vectors() * LANES;
    // Rows of narrow panels of a wide matrix are far apart and fall on few lines of the cache: then laying it out pays.
    let narrow = width == LANES && m * n >= 1 << 14;
    if n.is_multiple_of(LANES) && rhs.column_stride == 1 && !narrow {
        for first in (0..n).step_by(width) {
            let (values, columns) = (&rhs.data[first..], width.min(n - first));
            let panel = Panel { values, stride: rhs.row_stride, vectors: columns / LANES, columns };
            by_columns(left, panel, &mut dst[first..], stride, finish);
        }
    } else {
        for (first, panel) in Panels::of(rhs, k, n).panels() {
            by_columns(left, panel, &mut dst[first..], stride, finish);
        }
    }
}

/// x W + b. Shapes: x [rows, d_in], weight [d_in, d_out], bias `[d_out]` -> [rows, d_out].
pub(crate) fn linear(x: &[f32], rows: usize, weight: &Panels, bias: &[f32]) -> Buffer {
    let mut y = Buffer::stale(rows * weight.n());
    weight.product(x, &mut y, weight.n(), Finish { bias, ..PLAIN });
    y
}

/// x W, for callers that add the bias in a later loop over the result. Shapes as in [`linear`].
pub(crate) fn linear_unbiased(x: &[f32], rows: usize, weight: &Panels) -> Buffer {
    linear(x, rows, weight, &[])
}

/// The weight gradient of [`linear`], added up over chunks: dW += x^T dy.
pub(crate) fn add_weight_grad(dw: &mut [f32], x: &[f32], dy: &[f32], rows: usize) {
    let (d_in, d_out) = (x.len() / rows, dy.len() / rows);
    product([d_in, rows, d_out], dw, d_out, Into::Add, Mat::new(x, d_in).t(), Mat::new(dy, d_out), 1.0);
}

/// The input gradient of [`linear`]: dx = \[dx +\] dy W^T, from the panels of W^T.
pub(crate) fn input_grad(dx: &mut [f32], into: Into, dy: &[f32], transposed: &Panels) {
    transposed.product(dy, dx, transposed.n(), Finish { add: into == Into::Add, ..PLAIN });
}
