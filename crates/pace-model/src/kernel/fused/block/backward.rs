//! The backward pass of a [`Sublayer`] on a chunk.

use super::frame::{Chunk, Frame};
use super::params::{Kind, SublayerView};
use super::sublayer::{Saved, Sublayer};
use crate::kernel::fused::attention::{Grads, Scratch, lists};
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::products::{Into, add_weight_grad, input_grad};
use crate::kernel::fused::rows;
use crate::kernel::params::{NormPlacement, site};

/// The memory of a chunk and where its gradient is added, [graphs * M, D] each; empty if there is none.
pub(super) struct Memory<'m> {
    pub(super) values: &'m [f32],
    pub(super) grad: &'m mut [f32],
}

impl Sublayer<'_> {
    /// dy -> dx; adds to the gradients of the memory and of the parameters.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn backward(
        &self,
        frame: &Frame<'_>,
        chunk: Chunk,
        saved: &Saved,
        mut dy: Buffer,
        memory: &mut Memory<'_>,
        grads: &mut SublayerView<Buffer>,
        scratch: &mut Scratch,
    ) -> Buffer {
        let start = chunk.first * frame.n * frame.d;
        let site = self.output_site(frame);
        let (gamma, _) = self.params.each_ref().norm();
        let mut df = Buffer::stale(dy.len());
        match frame.norm {
            NormPlacement::Post => {
                let (dgamma, dbeta) = grads.each_mut().norm();
                rows::norm_grad(&mut dy, &saved.xhat, &saved.rstd, gamma, dgamma, dbeta);
                rows::dropped(&mut df, &dy, site, start);
                self.apply_grad(frame, chunk, saved, &df, (&mut dy, Into::Add), memory, grads, scratch);
            }
            NormPlacement::Pre => {
                rows::dropped(&mut df, &dy, site, start);
                let mut dn = Buffer::stale(dy.len());
                self.apply_grad(frame, chunk, saved, &df, (&mut dn, Into::Replace), memory, grads, scratch);
                let (dgamma, dbeta) = grads.each_mut().norm();
                rows::norm_grad(&mut dn, &saved.xhat, &saved.rstd, gamma, dgamma, dbeta);
                rows::add(&mut dy, &dn);
            }
        }
        dy
    }

    /// The gradient of f: df -> dx, into or onto `dx`.
    #[allow(clippy::too_many_arguments)]
    fn apply_grad(
        &self,
        frame: &Frame<'_>,
        chunk: Chunk,
        saved: &Saved,
        df: &[f32],
        (dx, into): (&mut [f32], Into),
        memory: &mut Memory<'_>,
        grads: &mut SublayerView<Buffer>,
        scratch: &mut Scratch,
    ) {
        let rows = chunk.graphs * frame.n;
        let inner = if self.kind() == Kind::FeedForward { &saved.projected } else { &saved.heads };
        let (dweight, dbias) = grads.each_mut().last_map();
        add_weight_grad(dweight, inner, df, rows);
        rows::add_rows(dbias, df);
        let mut dinner = Buffer::stale(inner.len());
        input_grad(&mut dinner, Into::Replace, df, self.last_map());
        let dprojected = if self.kind() == Kind::FeedForward {
            rows::relu_dropped_grad(&mut dinner, inner, self.site(frame, site::HIDDEN));
            dinner
        } else {
            self.attend_grad(frame, chunk, saved, &dinner, memory, grads, scratch)
        };
        let (dweight, dbias) = grads.each_mut().first_map();
        add_weight_grad(dweight, &saved.input, &dprojected, rows);
        rows::add_rows(dbias, &dprojected);
        input_grad(dx, into, &dprojected, self.first_map());
    }

    /// The gradient of the projection from that of the mixed values; adds to what belongs to the memory.
    #[allow(clippy::too_many_arguments)]
    fn attend_grad(
        &self,
        frame: &Frame<'_>,
        chunk: Chunk,
        saved: &Saved,
        dheads: &[f32],
        memory: &mut Memory<'_>,
        grads: &mut SublayerView<Buffer>,
        scratch: &mut Scratch,
    ) -> Buffer {
        let mut dprojected = Buffer::stale(saved.projected.len());
        if let Some(sparse) = self.sparse(frame, chunk) {
            let from = lists::Backward { qkv: &saved.projected, weights: &saved.weights, dout: dheads };
            lists::backward(&sparse, from, &mut dprojected, &mut scratch.slope);
            return dprojected;
        }
        let cross = self.kind() == Kind::CrossAttention;
        let mut dkv = Buffer::stale(saved.memory.len());
        let mut out = Grads { q: &mut dprojected, kv: cross.then_some(&mut dkv[..]), d: frame.d };
        let geometry = self.geometry(frame, chunk);
        geometry.backward(saved.qkv(self.kind(), frame.d), &saved.weights, dheads, &mut out, scratch);
        if let SublayerView::CrossAttention(grads) = grads {
            add_weight_grad(&mut grads.wkv, memory.values, &dkv, chunk.graphs * frame.m);
            rows::add_rows(&mut grads.bkv, &dkv);
            input_grad(memory.grad, Into::Add, &dkv, self.memory_map());
        }
        dprojected
    }
}
