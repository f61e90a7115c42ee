//! [`EncoderBlock`]: an encoder block whose weights are laid out, and which keeps nothing.
//!
//! Post-norm, without dropout, with the heads as lanes. Rows meet in the attention alone. The caller computes it, between
//! [`EncoderBlock::queries`] and [`EncoderBlock::keys_values`] before and [`EncoderBlock::finish`] after it.

use std::borrow::Cow;

use rayon::prelude::{IntoParallelIterator, ParallelIterator};

use crate::kernel::fused::attention::Order;
use crate::kernel::fused::block::params::{EncoderView, FeedForwardView, SelfAttentionView, SublayerView};
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::products::{Finish, Mat, PLAIN, Panels};
use crate::kernel::fused::rows;
use crate::kernel::params::BlockConfig;

/// A block ready to run.
pub(super) struct EncoderBlock<'a> {
    d: usize,
    epsilon: f32,
    attention: SelfAttentionView<Cow<'a, [f32]>>,
    feed_forward: FeedForwardView<&'a [f32]>,
    queries: Panels,
    keys_values: Panels,
    output: Panels,
    hidden: Panels,
    last: Panels,
}

/// Memory for the rows between attention and output, to be used again and again.
#[derive(Default)]
pub(super) struct Room {
    attended: Buffer,
    hidden: Buffer,
}

impl<'a> EncoderBlock<'a> {
    /// The blocks of a stack of width `d`.
    pub(super) fn stack(params: Vec<EncoderView<&'a [f32]>>, d: usize, config: &BlockConfig) -> Vec<Self> {
        params.into_par_iter().map(|params| Self::new(params, d, config)).collect()
    }

    fn new(params: EncoderView<&'a [f32]>, d: usize, config: &BlockConfig) -> Self {
        let attention = SublayerView::SelfAttention(params.attention).arrange(Order::Lanes, d, config.n_heads);
        let (attention, feed_forward) = (attention.self_attention(), params.feed_forward);
        Self {
            d,
            epsilon: config.epsilon as f32,
            queries: Panels::of(Mat::new(&attention.wqkv, 3 * d), d, d),
            keys_values: Panels::of(Mat::new(&attention.wqkv[d..], 3 * d), d, 2 * d),
            output: Panels::new(&attention.wo, d),
            hidden: Panels::new(feed_forward.w1, d),
            last: Panels::new(feed_forward.w2, feed_forward.b1.len()),
            attention,
            feed_forward,
        }
    }

    /// Shapes: x [rows, D] -> `q` [rows, D].
    pub(super) fn queries(&self, x: &[f32], q: &mut [f32]) {
        self.queries.product(x, q, self.d, Finish { bias: &self.attention.bqkv[..self.d], ..PLAIN });
    }

    /// Shapes: x [rows, D] -> `kv` [rows, 2D], keys and values side by side.
    pub(super) fn keys_values(&self, x: &[f32], kv: &mut [f32]) {
        self.keys_values.product(x, kv, 2 * self.d, Finish { bias: &self.attention.bqkv[self.d..], ..PLAIN });
    }

    /// What comes after the attention: the mixed values `heads` [rows, D] and the block's input `h` [rows, D] -> its output, in
    /// the place of the input.
    pub(super) fn finish(&self, heads: &[f32], h: &mut [f32], room: &mut Room) {
        let (own, feed) = (&self.attention, &self.feed_forward);
        let attended = at_least(&mut room.attended, h.len());
        self.output.product(heads, attended, self.d, PLAIN);
        rows::add_norm(attended, h, [&own.bo, &own.gamma, &own.beta], self.epsilon);
        let hidden = at_least(&mut room.hidden, h.len() / self.d * feed.b1.len());
        self.hidden.product(attended, hidden, feed.b1.len(), Finish { bias: feed.b1, relu: true, ..PLAIN });
        self.last.product(hidden, h, self.d, PLAIN);
        rows::add_norm(h, attended, [feed.b2, feed.gamma, feed.beta], self.epsilon);
    }
}

/// The first `len` numbers of a buffer, which grows if it has fewer.
pub(super) fn at_least(buffer: &mut Buffer, len: usize) -> &mut [f32] {
    if buffer.len() < len {
        *buffer = Buffer::stale(len);
    }
    &mut buffer[..len]
}
