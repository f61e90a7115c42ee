//! The packed projection of rows that attend along lists.

use super::Sparse;
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::products::{Finish, Mat, PLAIN, Panels};

/// The packed projection, laid out: queries apart from keys and values.
pub(crate) struct Projection {
    queries: Panels,
    keys_values: Panels,
}

impl Projection {
    /// Of a weight [D, 3D].
    pub(crate) fn new(weight: &[f32], d: usize) -> Self {
        let columns = |first: usize, n: usize| Panels::of(Mat::new(&weight[first..], 3 * d), d, n);
        Self { queries: columns(0, d), keys_values: columns(d, 2 * d) }
    }
}

/// The packed projection of the rows of a chunk: x [rows, D] -> `qkv` [rows, 3D].
///
/// A row with a single key gives it all of its attention, whatever its query, and half of a tree are leaves, which have a single
/// key. So queries are computed for the other rows only. Those of leaves are zeros, which backward multiplies by a gradient of 0.
pub(crate) fn project(s: &Sparse<'_>, x: &[f32], weight: &Projection, bias: &[f32], qkv: &mut [f32]) {
    let d = s.d;
    let asking: Vec<usize> = (0..s.rows).filter(|row| s.keys(*row).0.len() > 1).collect();
    weight.keys_values.product(x, &mut qkv[d..], 3 * d, Finish { bias: &bias[d..], ..PLAIN });
    let (mut own, mut q) = (Buffer::stale(asking.len() * d), Buffer::stale(asking.len() * d));
    for (own, &row) in own.chunks_exact_mut(d).zip(&asking) {
        own.copy_from_slice(&x[row * d..][..d]);
    }
    weight.queries.product(&own, &mut q, d, Finish { bias: &bias[..d], ..PLAIN });
    let mut asked = asking.iter().zip(q.chunks_exact(d)).peekable();
    for (row, packed) in qkv.chunks_exact_mut(3 * d).enumerate() {
        match asked.next_if(|(asking, _)| **asking == row) {
            Some((_, q)) => packed[..d].copy_from_slice(q),
            None => packed[..d].fill(0.0),
        }
    }
}
