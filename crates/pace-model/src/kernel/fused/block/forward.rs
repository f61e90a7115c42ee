//! The forward pass of a [`Sublayer`] on a chunk.

use super::frame::{Chunk, Frame};
use super::params::SublayerView;
use super::sublayer::{Saved, Sublayer};
use crate::kernel::fused::attention::{Scratch, lists};
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::products::{linear, linear_unbiased};
use crate::kernel::fused::rows;
use crate::kernel::params::{NormPlacement, site};

impl Sublayer<'_> {
    /// y = LN(x + drop(f(x))) or x + drop(f(LN(x))). Shapes: x and y [graphs * N, D], memory [graphs * M, D].
    pub(super) fn forward(
        &self,
        frame: &Frame<'_>,
        chunk: Chunk,
        mut x: Buffer,
        memory: &[f32],
        scratch: &mut Scratch,
    ) -> (Buffer, Saved) {
        let (rows, d) = (chunk.graphs * frame.n, frame.d);
        let start = chunk.first * frame.n * d;
        let site = self.output_site(frame);
        let ((gamma, beta), (_, bias)) = (self.params.each_ref().norm(), self.params.each_ref().last_map());
        let mut rstd = Buffer::stale(rows);
        let mut y = Buffer::stale(rows * d);
        match frame.norm {
            NormPlacement::Post => {
                let (mut sum, mut saved) = self.apply(frame, chunk, &x, memory, scratch);
                rows::residual(&mut sum, &x, bias, site, start);
                rows::norm(&mut sum, &mut y, &mut rstd, gamma, beta, frame.epsilon);
                (saved.input, saved.xhat, saved.rstd) = (x, sum, rstd);
                (y, saved)
            }
            NormPlacement::Pre => {
                let residual = Buffer::copy_of(&x);
                rows::norm(&mut x, &mut y, &mut rstd, gamma, beta, frame.epsilon);
                let (mut sum, mut saved) = self.apply(frame, chunk, &y, memory, scratch);
                rows::residual(&mut sum, &residual, bias, site, start);
                (saved.input, saved.xhat, saved.rstd) = (y, x, rstd);
                (sum, saved)
            }
        }
    }

    /// f(x) without the bias of its last map, which is added with the residual.
    fn apply(
        &self,
        frame: &Frame<'_>,
        chunk: Chunk,
        x: &[f32],
        memory: &[f32],
        scratch: &mut Scratch,
    ) -> (Buffer, Saved) {
        let rows = chunk.graphs * frame.n;
        let mut saved = Saved::default();
        match &self.params {
            SublayerView::FeedForward(p) => {
                let mut hidden = linear_unbiased(x, rows, self.first_map());
                let first = chunk.first * frame.n * p.b1.len();
                rows::relu_dropped(&mut hidden, &p.b1, self.site(frame, site::HIDDEN), first);
                let y = linear_unbiased(&hidden, rows, self.last_map());
                saved.projected = hidden;
                return (y, saved);
            }
            SublayerView::SelfAttention(p) => match self.sparse(frame, chunk) {
                Some(sparse) => {
                    saved.projected = Buffer::stale(rows * 3 * frame.d);
                    lists::project(&sparse, x, self.projection(), &p.bqkv, &mut saved.projected);
                }
                None => saved.projected = linear(x, rows, self.first_map(), &p.bqkv),
            },
            SublayerView::CrossAttention(p) => {
                saved.projected = linear(x, rows, self.first_map(), &p.bq);
                saved.memory = linear(memory, chunk.graphs * frame.m, self.memory_map(), &p.bkv);
            }
        }
        (saved.weights, saved.heads) = self.attend(frame, chunk, &saved, scratch);
        (linear_unbiased(&saved.heads, rows, self.last_map()), saved)
    }

    /// The attention weights, and the mixed values [graphs * N, D].
    fn attend(&self, frame: &Frame<'_>, chunk: Chunk, saved: &Saved, scratch: &mut Scratch) -> (Buffer, Buffer) {
        let mut heads = Buffer::stale(chunk.graphs * frame.n * frame.d);
        if let Some(sparse) = self.sparse(frame, chunk) {
            let mut weights = Buffer::stale(sparse.n_weights());
            lists::forward(&sparse, &saved.projected, &mut weights, &mut heads);
            return (weights, heads);
        }
        let geometry = self.geometry(frame, chunk);
        let mut weights = Buffer::stale(geometry.n_weights());
        geometry.forward(saved.qkv(self.kind(), frame.d), &mut weights, &mut heads, scratch);
        (weights, heads)
    }
}
