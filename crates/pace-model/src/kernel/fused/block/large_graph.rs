//! A graph too large for one block: every sublayer over all of its rows before the next, in blocks of rows that run in
//! parallel and stay in cache.
//!
//! Rows meet in the attention alone. So its keys and values, and on the way back the gradients of its scores, are those of
//! all rows before any row reads them; everything else is done block by block. Nothing is scattered: the gradient of a key
//! gathers from its queries in their order, and each group of blocks adds to weight gradients of its own. The cut depends on
//! the number of rows and the width alone, so that the number of threads changes no bit.

use rayon::prelude::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator,
    ParallelIterator, ParallelSlice, ParallelSliceMut,
};

use crate::kernel::fused::attention::Scratch;
use crate::kernel::fused::attention::lists::{self, Sparse};
use crate::kernel::fused::block::stack::Cut;
use crate::kernel::fused::block::sublayer::{Block, Frame, Kind, Saved, Sublayer};
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::products::{Into, add_weight_grad, input_grad, linear_unbiased};
use crate::kernel::fused::rows;
use crate::kernel::params::NormPlacement;

/// From this many rows between two seams on, a graph is cut. Under it, one block is still nearly in cache, and a batch has
/// other graphs for the other threads.
const LEAST_ROWS: usize = 384;

/// What forward leaves for backward of one sublayer.
#[derive(Debug)]
pub(crate) struct Step {
    /// Per block.
    saved: Vec<Saved>,
    /// Queries, keys and values of all rows, [rows, 3D]; empty in a feed-forward sublayer.
    qkv: Buffer,
    /// Of all pairs, [pairs, H].
    weights: Buffer,
}

/// A stack over the rows of one large graph, or of several between whose rows there is no seam.
pub(crate) struct Large<'a> {
    frame: &'a Frame<'a>,
    sublayers: &'a [Sublayer<'a>],
    /// All rows.
    whole: Block,
    blocks: Vec<Block>,
    /// So many consecutive blocks share their weight gradients.
    group: usize,
}

/// What backward computes for one block of an attention sublayer.
struct Part<'p> {
    block: Block,
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

impl<'a> Large<'a> {
    /// The stack over `whole`, if that is large.
    pub(crate) fn new(frame: &'a Frame<'a>, sublayers: &'a [Sublayer<'a>], whole: Block) -> Option<Self> {
        if frame.lists().is_none() || whole.graphs < LEAST_ROWS {
            return None;
        }
        let groups = Cut::new(whole.graphs, 1, frame.d).groups(whole.graphs);
        let group = groups[0].len();
        let blocks = groups.into_iter().flatten().map(|block| Block { first: whole.first + block.first, ..block });
        Some(Self { frame, sublayers, whole, blocks: blocks.collect(), group })
    }

    /// x [rows, D] -> y, and what backward needs if `keep`.
    pub(crate) fn forward(&self, x: &[f32], y: &mut [f32], keep: bool) -> Vec<Step> {
        let d = self.frame.d;
        let mut hidden: Vec<Buffer> = self
            .blocks
            .par_iter()
            .map(|block| Buffer::copy_of(&x[self.at(*block) * d..][..block.graphs * d]))
            .collect();
        let mut steps = Vec::new();
        for sublayer in self.sublayers {
            let (next, step) = match sublayer.kind {
                Kind::FeedForward => self.feed_forward(sublayer, hidden, keep),
                Kind::SelfAttention => self.attention(sublayer, hidden, keep),
                Kind::CrossAttention => unreachable!("packed rows have no memory"),
            };
            hidden = next;
            if keep {
                steps.push(step);
            }
        }
        for (block, hidden) in self.blocks.iter().zip(&hidden) {
            y[self.at(*block) * d..][..hidden.len()].copy_from_slice(hidden);
        }
        steps
    }

    /// dy [rows, D] -> dx; adds to the gradients of the parameters, per sublayer.
    pub(crate) fn backward(&self, steps: &[Step], dy: &[f32], dx: &mut [f32], grads: &mut [Vec<Buffer>]) {
        let d = self.frame.d;
        let mut dhidden: Vec<Buffer> =
            self.blocks.iter().map(|block| Buffer::copy_of(&dy[self.at(*block) * d..][..block.graphs * d])).collect();
        for ((sublayer, step), grads) in self.sublayers.iter().zip(steps).zip(grads).rev() {
            let mut partial: Vec<Vec<Buffer>> = self.blocks.chunks(self.group).map(|_| sublayer.zero_grads()).collect();
            if sublayer.kind == Kind::FeedForward {
                self.feed_forward_grad(sublayer, step, &mut dhidden, &mut partial);
            } else {
                dhidden = self.attention_grad(sublayer, step, dhidden, &mut partial);
            }
            grads.par_iter_mut().enumerate().for_each(|(param, total)| {
                partial.iter().for_each(|group| rows::add(total, &group[param]));
            });
        }
        for (block, dhidden) in self.blocks.iter().zip(&dhidden) {
            dx[self.at(*block) * d..][..dhidden.len()].copy_from_slice(dhidden);
        }
    }

    fn feed_forward(&self, sublayer: &Sublayer<'_>, x: Vec<Buffer>, keep: bool) -> (Vec<Buffer>, Step) {
        let run = |(x, &block)| {
            let (y, saved) = sublayer.forward(self.frame, block, x, &[], &mut Scratch::default());
            (y, if keep { saved } else { Saved::default() })
        };
        let (y, saved) = x.into_par_iter().zip(&self.blocks).map(run).unzip();
        (y, Step { saved, qkv: Buffer::default(), weights: Buffer::default() })
    }

    fn feed_forward_grad(
        &self,
        sublayer: &Sublayer<'_>,
        step: &Step,
        dhidden: &mut [Buffer],
        partial: &mut [Vec<Buffer>],
    ) {
        let groups = dhidden.par_chunks_mut(self.group).zip(self.blocks.par_chunks(self.group));
        groups.zip(step.saved.par_chunks(self.group)).zip(partial).for_each(|(((dhidden, blocks), saved), grads)| {
            let mut scratch = Scratch::default();
            for ((dy, &block), saved) in dhidden.iter_mut().zip(blocks).zip(saved) {
                let taken = std::mem::take(dy);
                *dy = sublayer.backward(self.frame, block, saved, taken, &[], &mut [], grads, &mut scratch);
            }
        });
    }

    fn attention(&self, sublayer: &Sublayer<'_>, x: Vec<Buffer>, keep: bool) -> (Vec<Buffer>, Step) {
        let (frame, d) = (self.frame, self.frame.d);
        let [_, bqkv, _, bo, gamma, beta] = sublayer.six();
        let mut qkv = Buffer::stale(self.whole.graphs * 3 * d);
        let parts = x.into_par_iter().zip(&self.blocks).zip(self.by_rows(&mut qkv, 3 * d));
        let projected = parts.map(|((mut x, &block), qkv)| {
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
                    rows::norm(&mut x, &mut saved.input, &mut saved.rstd, gamma, beta, frame.epsilon);
                    saved.xhat = x;
                    Some(residual)
                }
            };
            lists::project(&self.sparse(sublayer, block), &saved.input, sublayer.projection(), bqkv, qkv);
            (saved, residual)
        });
        let projected: Vec<_> = projected.collect();
        // From here on every row may read the keys and values of every other.
        let mut weights = Buffer::stale(self.sparse(sublayer, self.whole).n_weights());
        let parts = projected.into_par_iter().zip(&self.blocks).zip(self.by_pairs(sublayer, &mut weights));
        let mixed = parts.map(|(((mut saved, residual), &block), weights)| {
            let rows = block.graphs;
            let (site, start) = (sublayer.output_site(frame), block.first * d);
            saved.heads = Buffer::stale(rows * d);
            lists::forward(&self.sparse(sublayer, block), &qkv, weights, &mut saved.heads);
            let mut sum = linear_unbiased(&saved.heads, rows, sublayer.last_map());
            rows::residual(&mut sum, residual.as_ref().unwrap_or(&saved.input), bo, site, start);
            if frame.norm == NormPlacement::Post {
                let mut y = Buffer::stale(rows * d);
                saved.rstd = Buffer::stale(rows);
                rows::norm(&mut sum, &mut y, &mut saved.rstd, gamma, beta, frame.epsilon);
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
        partial: &mut [Vec<Buffer>],
    ) -> Vec<Buffer> {
        let (frame, d) = (self.frame, self.frame.d);
        let [_, _, _, _, gamma, _] = sublayer.six();
        let mut dheads = Buffer::stale(self.whole.graphs * d);
        let mut dscores = Buffer::stale(step.weights.len());
        let mut dqkv = Buffer::stale(step.qkv.len());
        let mut parts = self.parts(sublayer, step, dy, [&mut dheads, &mut dscores, &mut dqkv]);
        // The queries' side: what a row's own output says about its scores.
        parts.par_chunks_mut(self.group).zip(&mut *partial).for_each(|(parts, grads)| {
            let [_, _, dwo, dbo, dgamma, dbeta] = &mut grads[..] else { unreachable!("six parameters") };
            for part in parts {
                let rows = part.block.graphs;
                if frame.norm == NormPlacement::Post {
                    rows::norm_grad(&mut part.dy, &part.saved.xhat, &part.saved.rstd, gamma, dgamma, dbeta);
                }
                let mut df = Buffer::stale(rows * d);
                rows::dropped(&mut df, &part.dy, sublayer.output_site(frame), part.block.first * d);
                add_weight_grad(dwo, &part.saved.heads, &df, rows);
                rows::add_rows(dbo, &df);
                input_grad(part.dheads, Into::Replace, &df, sublayer.last_map());
                let sparse = self.sparse(sublayer, part.block);
                lists::backward_queries(&sparse, &step.qkv, part.weights, part.dheads, part.dscores, part.dqkv);
            }
        });
        // The keys' side: what all rows that read a row say about it.
        let dy = parts.into_iter().map(|part| part.dy).collect();
        let mut parts = self.parts(sublayer, step, dy, [&mut [], &mut [], &mut dqkv]);
        parts.par_chunks_mut(self.group).zip(partial).for_each(|(parts, grads)| {
            let [dwqkv, dbqkv, _, _, dgamma, dbeta] = &mut grads[..] else { unreachable!("six parameters") };
            for part in parts {
                let rows = part.block.graphs;
                let sparse = self.sparse(sublayer, part.block);
                lists::backward_keys(&sparse, &step.qkv, &step.weights, &dheads, &dscores, part.dqkv);
                add_weight_grad(dwqkv, &part.saved.input, part.dqkv, rows);
                rows::add_rows(dbqkv, part.dqkv);
                if frame.norm == NormPlacement::Post {
                    input_grad(&mut part.dy, Into::Add, part.dqkv, sublayer.first_map());
                } else {
                    let mut dn = Buffer::stale(rows * d);
                    input_grad(&mut dn, Into::Replace, part.dqkv, sublayer.first_map());
                    rows::norm_grad(&mut dn, &part.saved.xhat, &part.saved.rstd, gamma, dgamma, dbeta);
                    rows::add(&mut part.dy, &dn);
                }
            }
        });
        parts.into_iter().map(|part| part.dy).collect()
    }

    /// The blocks of an attention sublayer with their parts of what is computed; an empty buffer has empty parts.
    fn parts<'p>(
        &self,
        sublayer: &Sublayer<'_>,
        step: &'p Step,
        dy: Vec<Buffer>,
        [dheads, dscores, dqkv]: [&'p mut [f32]; 3],
    ) -> Vec<Part<'p>> {
        let d = self.frame.d;
        let mut rest = &step.weights[..];
        let weights = self.blocks.iter().map(|&block| {
            let (part, others) = rest.split_at(self.sparse(sublayer, block).n_weights());
            rest = others;
            part
        });
        let weights: Vec<_> = weights.collect();
        let grads =
            self.by_rows(dheads, d).into_iter().zip(self.by_pairs(sublayer, dscores)).zip(self.by_rows(dqkv, 3 * d));
        let kept = self.blocks.iter().zip(&step.saved).zip(weights);
        let part = |((((&block, saved), weights), dy), ((dheads, dscores), dqkv))| Part {
            block,
            saved,
            dy,
            weights,
            dheads,
            dscores,
            dqkv,
        };
        kept.zip(dy).zip(grads).map(part).collect()
    }

    fn sparse(&self, sublayer: &Sublayer<'_>, block: Block) -> Sparse<'a> {
        let sparse = sublayer.sparse(self.frame, block).expect("self-attention along lists");
        Sparse { origin: self.whole.first, ..sparse }
    }

    /// A block's first row among all.
    fn at(&self, block: Block) -> usize {
        block.first - self.whole.first
    }

    /// Cuts [rows, width] into the blocks' parts.
    fn by_rows<'m>(&self, values: &'m mut [f32], width: usize) -> Vec<&'m mut [f32]> {
        cut(values, self.blocks.iter().map(|block| block.graphs * width))
    }

    /// Cuts [pairs, H] into the blocks' parts.
    fn by_pairs<'m>(&self, sublayer: &Sublayer<'_>, values: &'m mut [f32]) -> Vec<&'m mut [f32]> {
        cut(values, self.blocks.iter().map(|&block| self.sparse(sublayer, block).n_weights()))
    }
}

/// Cuts a slice into parts of the given lengths, or an empty one into as many empty parts.
fn cut(mut values: &mut [f32], lengths: impl Iterator<Item = usize>) -> Vec<&mut [f32]> {
    let none = values.is_empty();
    let part = |length| {
        let (part, rest) = std::mem::take(&mut values).split_at_mut(if none { 0 } else { length });
        values = rest;
        part
    };
    lengths.map(part).collect()
}
