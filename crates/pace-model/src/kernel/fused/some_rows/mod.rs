//! The last block of a stack of which only some rows are read: the root of a tree, the output of a cell.
//!
//! No other row needs queries, an output or a feed-forward. Nor do keys and values have to be computed: with
//! u_h = W_K,h q_h / sqrt(D/H), the score of key k is u_h x_k (what the bias of the keys adds is the same for all keys, and
//! softmax does not see it), and with m_h = sum_k w_hk x_k the mixed value is m_h W_V,h + (sum_k w_hk) b_V,h. So a read costs
//! a few matrices times one vector and 2 H D per key; keys and values of all rows would cost 2 D^2 per row.
//!
//! Post-norm only; the rows of a pre-norm block would have to be normalised first. [`reads`] says which rows are read and what they
//! look at, [`op`] is the operation as Burn sees it, [`forward`] and [`backward`] its two passes, and [`mix`] the loops over keys.

mod backward;
mod forward;
mod mix;
mod op;
mod reads;

pub(crate) use op::last_block;
pub(crate) use reads::Reads;

use std::ops::Range;

use super::block::params::EncoderView;
use super::buffer::Buffer;
use super::products::{Mat, Panels, Way};
use super::rows;
use crate::kernel::dropout::Site;

/// Reads that are computed together.
const CHUNK_READS: usize = 64;

/// The dropout sites of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sites {
    pub(crate) weights: Site,
    pub(crate) attention: Site,
    pub(crate) hidden: Site,
    pub(crate) feed_forward: Site,
}

/// A block at the rows of its result that are read.
pub(crate) struct SomeRows<'a> {
    pub(crate) reads: &'a Reads,
    pub(crate) d: usize,
    pub(crate) n_heads: usize,
    pub(crate) epsilon: f32,
    pub(crate) sites: Sites,
    pub(crate) params: EncoderView<&'a [f32]>,
}

/// The weights of a block, laid out once for all reads: as they are on the way forward, transposed on the way back.
struct Maps {
    queries: Panels,
    /// Per head, W_K,h^T forward and W_K,h backward.
    keys: Vec<Panels>,
    /// Per head, W_V,h forward and W_V,h^T backward.
    values: Vec<Panels>,
    output: Panels,
    hidden: Panels,
    last: Panels,
}

/// What forward leaves for backward, of R reads that are computed together.
#[derive(Debug)]
pub(crate) struct Saved {
    reads: Range<usize>,
    /// [R, D].
    q: Buffer,
    /// [R, H, D].
    u: Buffer,
    /// [pairs, H], negative if dropout dropped it.
    weights: Buffer,
    /// [R, H, D].
    m: Buffer,
    /// The sums of the kept weights, [R, H].
    mass: Buffer,
    /// [R, D], before the output projection.
    heads: Buffer,
    xhat: [Buffer; 2],
    rstd: [Buffer; 2],
    /// [R, D], between attention and feed-forward.
    middle: Buffer,
    /// [R, F].
    hidden: Buffer,
}

/// Per group, per reads that are computed together.
pub(crate) type Tape = Vec<Vec<Saved>>;

impl SomeRows<'_> {
    /// 1 / sqrt(D/H).
    fn scale(&self) -> f32 {
        1.0 / ((self.d / self.n_heads) as f32).sqrt()
    }

    /// The weights, laid out.
    fn maps(&self, way: Way) -> Maps {
        let EncoderView { attention, feed_forward } = self.params;
        let (wqkv, w1, w2) = (attention.wqkv, feed_forward.w1, feed_forward.w2);
        let (d, d_head, forward) = (self.d, self.d / self.n_heads, way == Way::Forward);
        // A matrix [D, N] as it is or transposed.
        let lay_out = |weight: &[f32], stride: usize, n: usize, as_it_is: bool| {
            let matrix = Mat::new(weight, stride);
            if as_it_is { Panels::of(matrix, d, n) } else { Panels::of(matrix.t(), n, d) }
        };
        let heads = |part: usize, as_it_is: bool| -> Vec<Panels> {
            let columns = (part * d..(part + 1) * d).step_by(d_head);
            columns.map(|column| lay_out(&wqkv[column..], 3 * d, d_head, as_it_is)).collect()
        };
        Maps {
            queries: lay_out(wqkv, 3 * d, d, forward),
            keys: heads(1, !forward),
            values: heads(2, forward),
            output: lay_out(attention.wo, d, d, forward),
            hidden: lay_out(w1, w1.len() / d, w1.len() / d, forward),
            last: way.panels(w2, w2.len() / d),
        }
    }

    /// The rows that are read, [R, D].
    fn gather(&self, reads: &Range<usize>, x: &[f32]) -> Buffer {
        let mut own = Buffer::stale(reads.len() * self.d);
        for (own, &row) in own.chunks_exact_mut(self.d).zip(&self.reads.rows[reads.clone()]) {
            own.copy_from_slice(&x[row as usize * self.d..][..self.d]);
        }
        own
    }

    /// LN(residual + drop(x + bias)) with its xhat and 1 / standard deviation.
    fn add_norm(
        &self,
        reads: &Range<usize>,
        mut x: Buffer,
        residual: &[f32],
        site: Site,
        [bias, gamma, beta]: [&[f32]; 3],
    ) -> (Buffer, Buffer, Buffer) {
        let d = self.d;
        self.by_row(reads, &mut x, |x, at, first| rows::residual(x, &residual[at * d..][..d], bias, site, first));
        let (mut y, mut rstd) = (Buffer::stale(x.len()), Buffer::stale(reads.len()));
        rows::norm(&mut x, &mut y, &mut rstd, gamma, beta, self.epsilon);
        (y, x, rstd)
    }

    /// drop(x).
    fn dropped(&self, reads: &Range<usize>, x: &[f32], site: Site) -> Buffer {
        let (d, mut y) = (self.d, Buffer::stale(x.len()));
        self.by_row(reads, &mut y, |y, at, first| rows::dropped(y, &x[at * d..][..d], site, first));
        y
    }

    /// Calls `f` with every row of values [R, width], its index among them, and the index that its first element would have if all
    /// rows were computed, by which dropout counts.
    fn by_row(&self, reads: &Range<usize>, values: &mut [f32], mut f: impl FnMut(&mut [f32], usize, usize)) {
        let width = values.len() / reads.len();
        let rows = self.reads.rows[reads.clone()].iter().enumerate();
        for (values, (place, &row)) in values.chunks_exact_mut(width).zip(rows) {
            f(values, place, row as usize * width);
        }
    }
}
