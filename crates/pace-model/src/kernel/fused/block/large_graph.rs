//! A graph too large for one chunk: every sublayer runs over all of its rows before the next one starts, in chunks of rows that
//! run in parallel and stay in cache.
//!
//! Rows meet in the attention alone. So keys and values of all rows, and on the way back the gradients of all scores, are ready
//! before any row reads them; everything else is done chunk by chunk. Nothing is scattered: the gradient of a key gathers from its
//! queries in their order, and each group of chunks adds to weight gradients of its own. The cut depends on the number of rows
//! and the width alone, so that the number of threads changes no bit.

use rayon::prelude::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator, ParallelSlice,
    ParallelSliceMut,
};

use super::backward::Memory;
use super::cut::{Cut, split};
use super::frame::{Chunk, Frame};
use super::params::{Kind, SublayerView};
use super::sublayer::{Saved, Sublayer};
use crate::kernel::fused::attention::Scratch;
use crate::kernel::fused::attention::lists::{self, Sparse};
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::named::with_parts;
use crate::kernel::fused::products::{Into, add_weight_grad, input_grad, linear_unbiased};
use crate::kernel::fused::rows;
use crate::kernel::params::NormPlacement;

/// A graph of at least this many rows between two seams is cut. A smaller one is still nearly in cache as one chunk, and a batch
/// has other graphs for the other threads.
const LEAST_ROWS: usize = 384;

/// What forward leaves for backward of one sublayer.
#[derive(Debug)]
pub(crate) struct Step {
    /// Per chunk.
    saved: Vec<Saved>,
    /// Queries, keys and values of all rows, [rows, 3D]; empty in a feed-forward sublayer.
    qkv: Buffer,
    /// Of all pairs, [pairs, H].
    weights: Buffer,
}

/// A stack over the rows of one large graph, or of several between whose rows there is no seam.
pub(crate) struct LargeGraph<'a> {
    frame: &'a Frame<'a>,
    sublayers: &'a [Sublayer<'a>],
    /// All rows.
    whole: Chunk,
    chunks: Vec<Chunk>,
    /// So many consecutive chunks share their weight gradients.
    group: usize,
}

/// What backward computes for one chunk of an attention sublayer.
struct Part<'p> {
    chunk: Chunk,
    saved: &'p Saved,
    dy: Buffer,
    weights: &'p [f32],
    /// [rows, D], of the mixed values.
    dheads: &'p mut [f32],
    /// [pairs, H], of the scores.
    dscores: &'p mut [f32],
    /// [rows, 3D].
    dqkv: &'p mut [f32],
}

impl<'a> LargeGraph<'a> {
    /// The stack over `whole`, if that is large.
    pub(crate) fn new(frame: &'a Frame<'a>, sublayers: &'a [Sublayer<'a>], whole: Chunk) -> Option<Self> {
        if frame.lists().is_none() || whole.graphs < LEAST_ROWS {
            return None;
        }
        let groups = Cut::new(whole.graphs, 1, frame.d).groups(whole.graphs);
        let group = groups[0].len();
        let chunks = groups.into_iter().flatten().map(|chunk| Chunk { first: whole.first + chunk.first, ..chunk });
        Some(Self { frame, sublayers, whole, chunks: chunks.collect(), group })
    }

    /// x [rows, D] -> y, and what backward needs if `keep`.
    pub(crate) fn forward(&self, x: &[f32], y: &mut [f32], keep: bool) -> Vec<Step> {
        let d = self.frame.d;
        let mut hidden: Vec<Buffer> = self
            .chunks
            .par_iter()
            .map(|chunk| Buffer::copy_of(&x[self.at(*chunk) * d..][..chunk.graphs * d]))
            .collect();
        let mut steps = Vec::new();
        for sublayer in self.sublayers {
            let (next, step) = match sublayer.kind() {
                Kind::FeedForward => self.feed_forward(sublayer, hidden, keep),
                Kind::SelfAttention => self.attention(sublayer, hidden, keep),
                Kind::CrossAttention => unreachable!("packed rows have no memory"),
            };
            hidden = next;
            if keep {
                steps.push(step);
            }
        }
        for (chunk, hidden) in self.chunks.iter().zip(&hidden) {
            y[self.at(*chunk) * d..][..hidden.len()].copy_from_slice(hidden);
        }
        steps
    }

    /// dy [rows, D] -> dx; adds to the gradients of the parameters, per sublayer.
    pub(crate) fn backward(&self, steps: &[Step], dy: &[f32], dx: &mut [f32], grads: &mut [SublayerView<Buffer>]) {
        let d = self.frame.d;
        let mut dhidden: Vec<Buffer> =
            self.chunks.iter().map(|chunk| Buffer::copy_of(&dy[self.at(*chunk) * d..][..chunk.graphs * d])).collect();
        for ((sublayer, step), grads) in self.sublayers.iter().zip(steps).zip(grads).rev() {
            let mut partial: Vec<SublayerView<Buffer>> =
                self.chunks.chunks(self.group).map(|_| sublayer.zero_grads()).collect();
            if sublayer.kind() == Kind::FeedForward {
                self.feed_forward_grad(sublayer, step, &mut dhidden, &mut partial);
            } else {
                dhidden = self.attention_grad(sublayer, step, dhidden, &mut partial);
            }
            let parts = with_parts(grads.each_mut().list(), partial.iter().map(|group| group.each_ref().list()));
            parts.into_par_iter().for_each(|(total, parts)| parts.iter().for_each(|part| rows::add(total, part)));
        }
        for (chunk, dhidden) in self.chunks.iter().zip(&dhidden) {
            dx[self.at(*chunk) * d..][..dhidden.len()].copy_from_slice(dhidden);
        }
    }

    fn feed_forward(&self, sublayer: &Sublayer<'_>, x: Vec<Buffer>, keep: bool) -> (Vec<Buffer>, Step) {
        let run = |(x, &chunk)| {
            let (y, saved) = sublayer.forward(self.frame, chunk, x, &[], &mut Scratch::default());
            (y, if keep { saved } else { Saved::default() })
        };
        let (y, saved) = x.into_par_iter().zip(&self.chunks).map(run).unzip();
        (y, Step { saved, qkv: Buffer::default(), weights: Buffer::default() })
    }

    fn feed_forward_grad(
        &self,
        sublayer: &Sublayer<'_>,
        step: &Step,
        dhidden: &mut [Buffer],
        partial: &mut [SublayerView<Buffer>],
    ) {
        let groups = dhidden.par_chunks_mut(self.group).zip(self.chunks.par_chunks(self.group));
        groups.zip(step.saved.par_chunks(self.group)).zip(partial).for_each(|(((dhidden, chunks), saved), grads)| {
            let mut scratch = Scratch::default();
            for ((dy, &chunk), saved) in dhidden.iter_mut().zip(chunks).zip(saved) {
                let taken = std::mem::take(dy);
                let mut memory = Memory { values: &[], grad: &mut [] };
                *dy = sublayer.backward(self.frame, chunk, saved, taken, &mut memory, grads, &mut scratch);
            }
        });
    }

    fn attention(&self, sublayer: &Sublayer<'_>, x: Vec<Buffer>, keep: bool) -> (Vec<Buffer>, Step) {
        let (frame, d) = (self.frame, self.frame.d);
        let p = sublayer.params.each_ref().self_attention();
        let mut qkv = Buffer::stale(self.whole.graphs * 3 * d);
        let parts = x.into_par_iter().zip(&self.chunks).zip(self.by_rows(&mut qkv, 3 * d));
        let projected = parts.map(|((mut x, &chunk), qkv)| {
            let rows = x.len() / d;
            let mut saved = Saved::default();
            let residual = match frame.norm {
                NormPlacement::Post => {
                    saved.input = x;
                    None
                }
                NormPlacement::Pre => {
                    let residual = Buffer::copy_of(&x);
                    (saved.input, saved.rstd) = (Buffer::stale(rows * d), Buffer::stale(rows));
                    rows::norm(&mut x, &mut saved.input, &mut saved.rstd, p.gamma, p.beta, frame.epsilon);
                    saved.xhat = x;
                    Some(residual)
                }
            };
            lists::project(&self.sparse(sublayer, chunk), &saved.input, sublayer.projection(), p.bqkv, qkv);
            (saved, residual)
        });
        let projected: Vec<_> = projected.collect();
        // From here on every row may read the keys and values of every other.
        let mut weights = Buffer::stale(self.sparse(sublayer, self.whole).n_weights());
        let parts = projected.into_par_iter().zip(&self.chunks).zip(self.by_pairs(sublayer, &mut weights));
        let mixed = parts.map(|(((mut saved, residual), &chunk), weights)| {
            let rows = chunk.graphs;
            let (site, start) = (sublayer.output_site(frame), chunk.first * d);
            saved.heads = Buffer::stale(rows * d);
            lists::forward(&self.sparse(sublayer, chunk), &qkv, weights, &mut saved.heads);
            let mut sum = linear_unbiased(&saved.heads, rows, sublayer.last_map());
            rows::residual(&mut sum, residual.as_ref().unwrap_or(&saved.input), p.bo, site, start);
            if frame.norm == NormPlacement::Post {
                let mut y = Buffer::stale(rows * d);
                saved.rstd = Buffer::stale(rows);
                rows::norm(&mut sum, &mut y, &mut saved.rstd, p.gamma, p.beta, frame.epsilon);
                saved.xhat = std::mem::replace(&mut sum, y);
            }
            (sum, if keep { saved } else { Saved::default() })
        });
        let (y, saved) = mixed.unzip();
        (y, Step { saved, qkv, weights })
    }

    fn attention_grad(
        &self,
        sublayer: &Sublayer<'_>,
        step: &Step,
        dy: Vec<Buffer>,
        partial: &mut [SublayerView<Buffer>],
    ) -> Vec<Buffer> {
        let (frame, d) = (self.frame, self.frame.d);
        let gamma = sublayer.params.each_ref().self_attention().gamma;
        let mut dheads = Buffer::stale(self.whole.graphs * d);
        let mut dscores = Buffer::stale(step.weights.len());
        let mut dqkv = Buffer::stale(step.qkv.len());
        let mut parts = self.parts(sublayer, step, dy, [&mut dheads, &mut dscores, &mut dqkv]);
        // The queries' side: what a row's own output says about its scores.
        parts.par_chunks_mut(self.group).zip(&mut *partial).for_each(|(parts, grads)| {
            let grads = grads.each_mut().self_attention();
            for part in parts {
                let rows = part.chunk.graphs;
                if frame.norm == NormPlacement::Post {
                    rows::norm_grad(&mut part.dy, &part.saved.xhat, &part.saved.rstd, gamma, grads.gamma, grads.beta);
                }
                let mut df = Buffer::stale(rows * d);
                rows::dropped(&mut df, &part.dy, sublayer.output_site(frame), part.chunk.first * d);
                add_weight_grad(grads.wo, &part.saved.heads, &df, rows);
                rows::add_rows(grads.bo, &df);
                input_grad(part.dheads, Into::Replace, &df, sublayer.last_map());
                let sparse = self.sparse(sublayer, part.chunk);
                let from = lists::Backward { qkv: &step.qkv, weights: part.weights, dout: part.dheads };
                lists::backward_queries(&sparse, from, part.dscores, part.dqkv);
            }
        });
        // The keys' side: what all rows that read a row say about it.
        let dy = parts.into_iter().map(|part| part.dy).collect();
        let mut parts = self.parts(sublayer, step, dy, [&mut [], &mut [], &mut dqkv]);
        parts.par_chunks_mut(self.group).zip(partial).for_each(|(parts, grads)| {
            let grads = grads.each_mut().self_attention();
            for part in parts {
                let rows = part.chunk.graphs;
                let sparse = self.sparse(sublayer, part.chunk);
                let from = lists::Backward { qkv: &step.qkv, weights: &step.weights, dout: &dheads };
                lists::backward_keys(&sparse, from, &dscores, part.dqkv);
                add_weight_grad(grads.wqkv, &part.saved.input, part.dqkv, rows);
                rows::add_rows(grads.bqkv, part.dqkv);
                if frame.norm == NormPlacement::Post {
                    input_grad(&mut part.dy, Into::Add, part.dqkv, sublayer.first_map());
                } else {
                    let mut dn = Buffer::stale(rows * d);
                    input_grad(&mut dn, Into::Replace, part.dqkv, sublayer.first_map());
                    rows::norm_grad(&mut dn, &part.saved.xhat, &part.saved.rstd, gamma, grads.gamma, grads.beta);
                    rows::add(&mut part.dy, &dn);
                }
            }
        });
        parts.into_iter().map(|part| part.dy).collect()
    }

    /// The chunks of an attention sublayer with their parts of what is computed; an empty buffer has empty parts.
    fn parts<'p>(
        &self,
        sublayer: &Sublayer<'_>,
        step: &'p Step,
        dy: Vec<Buffer>,
        [dheads, dscores, dqkv]: [&'p mut [f32]; 3],
    ) -> Vec<Part<'p>> {
        let d = self.frame.d;
        let mut rest = &step.weights[..];
        let weights = self.chunks.iter().map(|&chunk| {
            let (part, others) = rest.split_at(self.sparse(sublayer, chunk).n_weights());
            rest = others;
            part
        });
        let weights: Vec<_> = weights.collect();
        let grads =
            self.by_rows(dheads, d).into_iter().zip(self.by_pairs(sublayer, dscores)).zip(self.by_rows(dqkv, 3 * d));
        let kept = self.chunks.iter().zip(&step.saved).zip(weights);
        let part = |((((&chunk, saved), weights), dy), ((dheads, dscores), dqkv))| Part {
            chunk,
            saved,
            dy,
            weights,
            dheads,
            dscores,
            dqkv,
        };
        kept.zip(dy).zip(grads).map(part).collect()
    }

    fn sparse(&self, sublayer: &Sublayer<'_>, chunk: Chunk) -> Sparse<'a> {
        let sparse = sublayer.sparse(self.frame, chunk).expect("self-attention along lists");
        Sparse { origin: self.whole.first, ..sparse }
    }

    /// A chunk's first row among all.
    fn at(&self, chunk: Chunk) -> usize {
        chunk.first - self.whole.first
    }

    /// Cuts [rows, width] into the chunks' parts.
    fn by_rows<'m>(&self, values: &'m mut [f32], width: usize) -> Vec<&'m mut [f32]> {
        cut(values, self.chunks.iter().map(|chunk| chunk.graphs * width))
    }

    /// Cuts [pairs, H] into the chunks' parts.
    fn by_pairs<'m>(&self, sublayer: &Sublayer<'_>, values: &'m mut [f32]) -> Vec<&'m mut [f32]> {
        cut(values, self.chunks.iter().map(|&chunk| self.sparse(sublayer, chunk).n_weights()))
    }
}

/// Cuts a slice into parts of the given lengths, or an empty one into as many empty parts.
fn cut(values: &mut [f32], lengths: impl Iterator<Item = usize>) -> Vec<&mut [f32]> {
    let none = values.is_empty();
    split(values, lengths.map(|length| if none { 0 } else { length }))
}
