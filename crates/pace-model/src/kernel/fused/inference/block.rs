//! An encoder block ready for inference: its weights in [`Panels`], and nothing kept on the way.
//!
//! Post-norm, without dropout, with the heads as lanes. Rows meet in the attention alone, which the caller computes between [`Ready::queries`] and
//! [`Ready::keys_values`] on one side and [`Ready::finish`] on the other.

use rayon::prelude::{IndexedParallelIterator, ParallelIterator, ParallelSlice};

use crate::kernel::fused::attention::Order;
use crate::kernel::fused::block::sublayer::{Frame, Sublayer};
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::ops::ENCODER;
use crate::kernel::fused::products::{Finish, Mat, PLAIN, Panels};
use crate::kernel::fused::rows;

/// A block.
pub(crate) struct Ready<'a> {
    d: usize,
    epsilon: f32,
    attention: Sublayer<'a>,
    feeding: Sublayer<'a>,
    queries: Panels,
    keys_values: Panels,
    output: Panels,
    hidden: Panels,
    last: Panels,
}

/// Memory for the rows between attention and output, to be used again and again.
#[derive(Default)]
pub(crate) struct Room {
    attended: Buffer,
    hidden: Buffer,
}

impl<'a> Ready<'a> {
    /// The blocks of a stack; `params` has those of all blocks in order.
    pub(crate) fn stack(params: &[&'a [f32]], frame: &Frame<'_>) -> Vec<Self> {
        let n_params = ENCODER.iter().map(|kind| kind.n_params()).sum();
        let blocks = params.par_chunks_exact(n_params).enumerate();
        blocks.map(|(layer, params)| Self::new(layer, params, frame)).collect()
    }

    fn new(layer: usize, params: &[&'a [f32]], frame: &Frame<'_>) -> Self {
        let (own, others) = params.split_at(ENCODER[0].n_params());
        let attention = Sublayer::in_order(Order::Lanes, ENCODER[0], layer, own, frame);
        let feeding = Sublayer::in_order(Order::Lanes, ENCODER[1], layer, others, frame);
        let d = frame.d;
        Self {
            d,
            epsilon: frame.epsilon,
            queries: Panels::of(Mat::new(&attention.params[0], 3 * d), d, d),
            keys_values: Panels::of(Mat::new(&attention.params[0][d..], 3 * d), d, 2 * d),
            output: Panels::new(&attention.params[2], d),
            hidden: Panels::new(&feeding.params[0], d),
            last: Panels::new(&feeding.params[2], feeding.params[1].len()),
            attention,
            feeding,
        }
    }

    /// Shapes: x [rows, D] -> `q` [rows, D].
    pub(crate) fn queries(&self, x: &[f32], q: &mut [f32]) {
        self.queries.product(x, q, self.d, Finish { bias: &self.attention.params[1][..self.d], ..PLAIN });
    }

    /// Shapes: x [rows, D] -> `kv` [rows, 2D], keys and values side by side.
    pub(crate) fn keys_values(&self, x: &[f32], kv: &mut [f32]) {
        self.keys_values.product(x, kv, 2 * self.d, Finish { bias: &self.attention.params[1][self.d..], ..PLAIN });
    }

    /// What comes after the attention: the mixed values `heads` [rows, D] and the block's input `h` [rows, D] -> its output, in
    /// the place of the input.
    pub(crate) fn finish(&self, heads: &[f32], h: &mut [f32], room: &mut Room) {
        let (rows, hidden_bias) = (h.len() / self.d, &self.feeding.params[1][..]);
        let attended = at_least(&mut room.attended, h.len());
        self.output.product(heads, attended, self.d, PLAIN);
        self.add_norm(&self.attention, attended, h);
        let hidden = at_least(&mut room.hidden, rows * hidden_bias.len());
        self.hidden.product(attended, hidden, hidden_bias.len(), Finish { bias: hidden_bias, relu: true, ..PLAIN });
        self.last.product(hidden, h, self.d, PLAIN);
        self.add_norm(&self.feeding, h, attended);
    }

    /// sum = LN(sum + bias of the last map, the fourth parameter, + x).
    fn add_norm(&self, sublayer: &Sublayer<'_>, sum: &mut [f32], x: &[f32]) {
        let (gamma, beta) = sublayer.norm_params();
        rows::add_norm(sum, x, [&sublayer.params[3], gamma, beta], self.epsilon);
    }
}

/// The first `len` numbers of a buffer, which grows if it has fewer.
pub(crate) fn at_least(buffer: &mut Buffer, len: usize) -> &mut [f32] {
    if buffer.len() < len {
        *buffer = Buffer::stale(len);
    }
    &mut buffer[..len]
}
