//! The forward pass of a block at the rows that are read.

use std::ops::Range;

use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use super::mix::mix;
use super::reads::Group;
use super::{CHUNK_READS, Maps, Saved, SomeRows, Tape};
use crate::kernel::fused::block::params::EncoderView;
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::products::{Finish, Left, PLAIN, Way, linear, linear_unbiased};
use crate::kernel::fused::rows;

impl SomeRows<'_> {
    /// x [T, D] -> y [R, D].
    pub(crate) fn forward(&self, x: &[f32]) -> (Vec<f32>, Tape) {
        let maps = self.maps(Way::Forward);
        let group = |group: &Group| -> (Vec<f32>, Vec<Saved>) {
            let (mut y, mut kept) = (Vec::with_capacity(group.reads.len() * self.d), Vec::new());
            for first in group.reads.clone().step_by(CHUNK_READS) {
                let (part, saved) = self.chunk(&maps, first..group.reads.end.min(first + CHUNK_READS), x);
                y.extend_from_slice(&part);
                kept.push(saved);
            }
            (y, kept)
        };
        let (y, tape): (Vec<_>, Vec<_>) = self.reads.groups.par_iter().map(group).unzip();
        (y.concat(), tape)
    }

    fn chunk(&self, maps: &Maps, reads: Range<usize>, x: &[f32]) -> (Buffer, Saved) {
        let (d, n_heads, count) = (self.d, self.n_heads, reads.len());
        let d_head = d / n_heads;
        let EncoderView { attention, feed_forward } = self.params;
        let bqkv = attention.bqkv;
        let own = self.gather(&reads, x);
        let q = linear(&own, count, &maps.queries, &bqkv[..d]);
        let (mut u, mut m) = (Buffer::stale(count * n_heads * d), Buffer::stale(count * n_heads * d));
        for (head, keys) in maps.keys.iter().enumerate() {
            let q = Left { values: &q[head * d_head..], stride: d, m: count, k: d_head };
            keys.times(q, &mut u[head * d..], n_heads * d, Finish { scale: self.scale(), ..PLAIN });
        }
        let (mut weights, mut mass) =
            (Buffer::stale(self.reads.n_pairs(&reads) * n_heads), Buffer::stale(count * n_heads));
        mix(self, &reads, x, &u, &mut weights, &mut m, &mut mass);
        let mut heads = Buffer::stale(count * d);
        for (read, heads) in heads.chunks_exact_mut(d).enumerate() {
            for (index, value) in heads.iter_mut().enumerate() {
                *value = bqkv[2 * d + index] * mass[read * n_heads + index / d_head];
            }
        }
        for (head, values) in maps.values.iter().enumerate() {
            let m = Left { values: &m[head * d..], stride: n_heads * d, m: count, k: d };
            values.times(m, &mut heads[head * d_head..], d, Finish { add: true, ..PLAIN });
        }
        let attended = linear_unbiased(&heads, count, &maps.output);
        let (middle, xhat, rstd) = self.add_norm(
            &reads,
            attended,
            &own,
            self.sites.attention,
            [attention.bo, attention.gamma, attention.beta],
        );
        let mut hidden = linear_unbiased(&middle, count, &maps.hidden);
        self.by_row(&reads, &mut hidden, |hidden, _, first| {
            rows::relu_dropped(hidden, feed_forward.b1, self.sites.hidden, first)
        });
        let fed = linear_unbiased(&hidden, count, &maps.last);
        let (y, xhat_2, rstd_2) = self.add_norm(
            &reads,
            fed,
            &middle,
            self.sites.feed_forward,
            [feed_forward.b2, feed_forward.gamma, feed_forward.beta],
        );
        let (xhat, rstd) = ([xhat, xhat_2], [rstd, rstd_2]);
        (y, Saved { reads, q, u, weights, m, mass, heads, xhat, rstd, middle, hidden })
    }
}
