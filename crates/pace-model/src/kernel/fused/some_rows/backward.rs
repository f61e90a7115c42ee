//! The backward pass of a block at the rows that are read.

use rayon::prelude::{IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::mix::{Target, mix_grad};
use super::reads::Group;
use super::{Maps, Saved, SomeRows, Tape};
use crate::kernel::fused::block::cut::split;
use crate::kernel::fused::block::params::EncoderView;
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::named::{Named, with_parts};
use crate::kernel::fused::products::{Finish, Into, Left, Mat, PLAIN, Way, add_weight_grad, input_grad, product};
use crate::kernel::fused::rows;

impl SomeRows<'_> {
    /// dy [R, D] -> dx [T, D] and the gradients of the parameters.
    pub(crate) fn backward(&self, tape: &Tape, x: &[f32], dy: &[f32]) -> (Vec<f32>, EncoderView<Vec<f32>>) {
        let (d, maps) = (self.d, self.maps(Way::Backward));
        let mut dx = vec![0.0; x.len()];
        let parts = split(&mut dx, self.reads.groups.iter().map(|group| group.rows.len() * d));
        let run = |((group, dx), kept): ((&Group, &mut [f32]), &Vec<Saved>)| {
            let (origin, mut grads) = (group.rows.start, self.params.map(|param| Buffer::zeros(param.len())));
            for saved in kept {
                let dy = Buffer::copy_of(&dy[saved.reads.start * d..saved.reads.end * d]);
                self.chunk_grad(&maps, saved, x, dy, &mut Target { dx, origin, d }, &mut grads);
            }
            grads
        };
        let partial: Vec<EncoderView<Buffer>> = self.reads.groups.par_iter().zip(parts).zip(tape).map(run).collect();
        let mut grads = self.params.map(|param| vec![0.0; param.len()]);
        let parts = with_parts(grads.each_mut().list(), partial.iter().map(|part| part.each_ref().list()));
        parts.into_par_iter().for_each(|(total, parts)| parts.iter().for_each(|part| rows::add(total, part)));
        (dx, grads)
    }

    fn chunk_grad(
        &self,
        maps: &Maps,
        saved: &Saved,
        x: &[f32],
        mut dy: Buffer,
        target: &mut Target<'_>,
        grads: &mut EncoderView<Buffer>,
    ) {
        let (d, n_heads, reads) = (self.d, self.n_heads, &saved.reads);
        let (d_head, count) = (d / n_heads, saved.reads.len());
        let EncoderView { attention, feed_forward } = self.params;
        let EncoderView { attention: own_grads, feed_forward: grads } = grads.each_mut();
        let bqkv = attention.bqkv;
        let (dwqkv, dbqkv) = (own_grads.wqkv, own_grads.bqkv);
        rows::norm_grad(&mut dy, &saved.xhat[1], &saved.rstd[1], feed_forward.gamma, grads.gamma, grads.beta);
        let df = self.dropped(reads, &dy, self.sites.feed_forward);
        add_weight_grad(grads.w2, &saved.hidden, &df, count);
        rows::add_rows(grads.b2, &df);
        let mut dhidden = Buffer::stale(saved.hidden.len());
        input_grad(&mut dhidden, Into::Replace, &df, &maps.last);
        rows::relu_dropped_grad(&mut dhidden, &saved.hidden, self.sites.hidden);
        add_weight_grad(grads.w1, &saved.middle, &dhidden, count);
        rows::add_rows(grads.b1, &dhidden);
        input_grad(&mut dy, Into::Add, &dhidden, &maps.hidden);

        rows::norm_grad(&mut dy, &saved.xhat[0], &saved.rstd[0], attention.gamma, own_grads.gamma, own_grads.beta);
        let df = self.dropped(reads, &dy, self.sites.attention);
        add_weight_grad(own_grads.wo, &saved.heads, &df, count);
        rows::add_rows(own_grads.bo, &df);
        let mut dheads = Buffer::stale(count * d);
        input_grad(&mut dheads, Into::Replace, &df, &maps.output);

        let (mut dm, mut du) = (Buffer::stale(saved.m.len()), Buffer::stale(saved.u.len()));
        let mut dmass = Buffer::stale(saved.mass.len());
        for (head, values) in maps.values.iter().enumerate() {
            let (column, stride) = (2 * d + head * d_head, n_heads * d);
            let dheads = &dheads[head * d_head..];
            let m = Mat::new(&saved.m[head * d..], stride);
            product([d, count, d_head], &mut dwqkv[column..], 3 * d, Into::Add, m.t(), Mat::new(dheads, d), 1.0);
            let dheads = Left { values: dheads, stride: d, m: count, k: d_head };
            values.times(dheads, &mut dm[head * d..], stride, PLAIN);
        }
        let per_head = dheads.chunks_exact(d_head).zip(&saved.mass[..]).zip(&mut dmass[..]).enumerate();
        for (index, ((dheads, mass), dmass)) in per_head {
            let column = 2 * d + index % n_heads * d_head;
            *dmass = dheads.iter().zip(&bqkv[column..]).map(|(dheads, bias)| dheads * bias).sum();
            dbqkv[column..column + d_head].iter_mut().zip(dheads).for_each(|(db, dheads)| *db += mass * dheads);
        }
        mix_grad(self, saved, x, &dm, &dmass, &mut du, target);

        let mut dq = Buffer::stale(count * d);
        for (head, keys) in maps.keys.iter().enumerate() {
            let (column, stride, du) = (d + head * d_head, n_heads * d, &du[head * d..]);
            let q = Mat::new(&saved.q[head * d_head..], d);
            let scale = self.scale();
            product([d, count, d_head], &mut dwqkv[column..], 3 * d, Into::Add, Mat::new(du, stride).t(), q, scale);
            let du = Left { values: du, stride, m: count, k: d };
            keys.times(du, &mut dq[head * d_head..], d, Finish { scale, ..PLAIN });
        }
        let own = self.gather(reads, x);
        product([d, count, d], dwqkv, 3 * d, Into::Add, Mat::new(&own, d).t(), Mat::new(&dq, d), 1.0);
        rows::add_rows(&mut dbqkv[..d], &dq);
        input_grad(&mut dy, Into::Add, &dq, &maps.queries);
        for (dy, &row) in dy.chunks_exact(d).zip(&self.reads.rows[reads.clone()]) {
            rows::add(target.row(row), dy);
        }
    }
}
