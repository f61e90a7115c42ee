//! Dense products on slices, one thread each: the caller already runs one block of graphs per thread.

use gemm::Parallelism;

use super::pool::Buffer;

/// A matrix inside a slice: element (i, j) is `data[i * rows + j * columns]`.
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

    /// Whether an [m, n] matrix of these strides lies inside the slice.
    fn holds(&self, m: usize, n: usize) -> bool {
        m == 0 || n == 0 || (m - 1) * self.row_stride + (n - 1) * self.column_stride < self.data.len()
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
/// Shapes: dst [m, n] with `dst_stride` between rows, lhs [m, k], rhs [k, n].
#[allow(unsafe_code)]
pub(crate) fn product(
    [m, k, n]: [usize; 3],
    dst: &mut [f32],
    dst_stride: usize,
    into: Into,
    lhs: Mat<'_>,
    rhs: Mat<'_>,
    scale: f32,
) {
    assert!(lhs.holds(m, k) && rhs.holds(k, n), "operand of [{m}, {k}] x [{k}, {n}] exceeds its slice");
    assert!(
        Mat::new(dst, dst_stride).holds(m, n) && (dst_stride >= n || m <= 1),
        "result [{m}, {n}] exceeds its slice"
    );
    if m == 0 || n == 0 {
        return;
    }
    // SAFETY: the assertions above place every element of the three matrices inside their slices; the rows of dst do not
    // overlap (stride >= n) and dst is borrowed mutably, so it aliases neither operand.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            dst.as_mut_ptr(),
            1,
            dst_stride as isize,
            into == Into::Add,
            lhs.data.as_ptr(),
            lhs.column_stride as isize,
            lhs.row_stride as isize,
            rhs.data.as_ptr(),
            rhs.column_stride as isize,
            rhs.row_stride as isize,
            1.0,
            scale,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// x W + b. Shapes: x [rows, d_in], weight [d_in, d_out], bias `[d_out]` -> [rows, d_out].
pub(crate) fn linear(x: &[f32], rows: usize, weight: &[f32], bias: &[f32]) -> Buffer {
    let mut y = Buffer::stale(rows * bias.len());
    linear_into(&mut y, x, rows, weight, bias);
    y
}

/// [`linear`] into memory at hand.
pub(crate) fn linear_into(y: &mut [f32], x: &[f32], rows: usize, weight: &[f32], bias: &[f32]) {
    let (d_out, d_in) = (bias.len(), x.len() / rows);
    y.chunks_exact_mut(d_out).for_each(|row| row.copy_from_slice(bias));
    product([rows, d_in, d_out], y, d_out, Into::Add, Mat::new(x, d_in), Mat::new(weight, d_out), 1.0);
}

/// x W, for those who add the bias on their next way over the result. Shapes as in [`linear`].
pub(crate) fn linear_unbiased(x: &[f32], rows: usize, weight: &[f32]) -> Buffer {
    let d_in = x.len() / rows;
    let d_out = weight.len() / d_in;
    let mut y = Buffer::stale(rows * d_out);
    product([rows, d_in, d_out], &mut y, d_out, Into::Replace, Mat::new(x, d_in), Mat::new(weight, d_out), 1.0);
    y
}

/// The weight gradient of [`linear`], added up over blocks: dW += x^T dy.
pub(crate) fn add_weight_grad(dw: &mut [f32], x: &[f32], dy: &[f32], rows: usize) {
    let (d_in, d_out) = (x.len() / rows, dy.len() / rows);
    product([d_in, rows, d_out], dw, d_out, Into::Add, Mat::new(x, d_in).t(), Mat::new(dy, d_out), 1.0);
}

/// The input gradient of [`linear`]: dx = \[dx +\] dy W^T.
pub(crate) fn input_grad(dx: &mut [f32], into: Into, dy: &[f32], weight: &[f32], rows: usize) {
    let (d_in, d_out) = (dx.len() / rows, dy.len() / rows);
    product([rows, d_out, d_in], dx, d_in, into, Mat::new(dy, d_out), Mat::new(weight, d_out).t(), 1.0);
}
