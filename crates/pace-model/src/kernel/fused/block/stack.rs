//! A stack of blocks over a batch: graphs cut into groups, one group per task, each taken through all sublayers in small
//! blocks that stay in cache.
//!
//! The cut depends on shapes alone and the partial weight gradients are added in the order of the groups, so results do not
//! depend on the number of threads or on who was faster.

use rayon::prelude::{IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::kernel::fused::attention::{Scratch, lists};
use crate::kernel::fused::block::large_graph::{Large, Step};
use crate::kernel::fused::block::sublayer::{Block, Frame, Kind, Own, Saved, Sublayer, Way};
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::rows;

/// Rows of activations that are taken through the stack together.
const BLOCK_ROWS: usize = 512;

/// Each group adds one copy of the weight gradients: enough groups to balance many cores, not so many that adding shows.
const MAX_GROUPS: usize = 32;

/// The cut of a batch: graphs per group, and per block inside a group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    pub(crate) group: usize,
    pub(crate) block: usize,
}

impl Cut {
    /// For `batch` graphs of `n` rows of width `d`.
    pub(crate) fn new(batch: usize, n: usize, d: usize) -> Self {
        // A group's products should outweigh its share of the gradient sum, which is the size of the weights, d^2; but a
        // few groups there must be for a few cores to share even a small batch.
        let rows = batch * n;
        let least = rows / 128;
        let groups = (rows / (4 * d).max(128)).max(least.min(4)).clamp(1, MAX_GROUPS);
        // Even, or one thread of two ends alone.
        let groups = groups.next_multiple_of(2).min(rows.div_ceil(64));
        let group = batch.div_ceil(groups).max(1);
        let blocks = (group * n).div_ceil(BLOCK_ROWS).max(1);
        Self { group, block: group.div_ceil(blocks).max(1) }
    }

    /// The blocks of every group of a batch of so many graphs.
    pub(crate) fn groups(self, batch: usize) -> Vec<Vec<Block>> {
        let blocks = |start: usize| {
            let end = batch.min(start + self.group);
            let block = |first: usize| Block { first, graphs: self.block.min(end - first) };
            (start..end).step_by(self.block).map(block).collect()
        };
        (0..batch).step_by(self.group).map(blocks).collect()
    }
}

/// What forward keeps: per group, per block.
pub(crate) type Tape = Vec<Vec<Kept>>;

/// What forward keeps of a block, per sublayer.
#[derive(Debug)]
pub(crate) enum Kept {
    /// Of one that went through the stack in a piece.
    Whole(Vec<Saved>),
    /// Of a large graph.
    Large(Vec<Step>),
}

/// The gradients of a stack.
pub(crate) struct StackGrads {
    pub(crate) x: Vec<f32>,
    /// Empty without a memory.
    pub(crate) memory: Vec<f32>,
    /// In the order of the parameters.
    pub(crate) params: Vec<Vec<f32>>,
}

/// A stack ready to run: its sublayers with their parameters, and the sizes.
pub(crate) struct Stack<'a> {
    frame: Frame<'a>,
    sublayers: Vec<Sublayer<'a>>,
    /// The blocks of every group, in order and without gaps.
    groups: Vec<Vec<Block>>,
}

impl<'a> Stack<'a> {
    /// `layer` is the list of sublayers that repeats, counted from `first_layer`; `params` has those of all layers in order.
    pub(crate) fn new(
        frame: Frame<'a>,
        layer: &[Kind],
        first_layer: usize,
        params: &[&'a [f32]],
        batch: usize,
        way: Way,
    ) -> Self {
        let mut rest = params;
        let mut parts = Vec::new();
        while !rest.is_empty() {
            let number = first_layer + parts.len() / layer.len();
            for &kind in layer {
                let (own, others) = rest.split_at(kind.n_params());
                parts.push((kind, number, own));
                rest = others;
            }
        }
        let sublayers = parts.into_par_iter().map(|(kind, number, own)| Sublayer::new(kind, number, own, &frame, way));
        let sublayers: Vec<_> = sublayers.collect();
        let groups = match frame.own {
            Own::Bias(_) => Cut::new(batch, frame.n, frame.d).groups(batch),
            Own::Lists(pairs) => lists::groups(pairs, frame.d),
        };
        Self { frame, sublayers, groups }
    }

    /// x [B*N, D], memory [B*M, D] -> y [B*N, D] and, if `keep`, what backward needs.
    pub(crate) fn forward(&self, x: &[f32], memory: &[f32], keep: bool) -> (Vec<f32>, Tape) {
        let (x_width, memory_width) = (self.frame.n * self.frame.d, self.frame.m * self.frame.d);
        let mut y = vec![0.0; x.len()];
        let run = |(group, y): (&Vec<Block>, &mut [f32])| {
            let mut scratch = Scratch::default();
            let mut tape = Vec::new();
            for &block in group {
                let at = block.first - group[0].first;
                let memory = &memory[block.first * memory_width..][..block.graphs * memory_width];
                let x = &x[block.first * x_width..][..block.graphs * x_width];
                let y = &mut y[at * x_width..][..block.graphs * x_width];
                if let Some(large) = Large::new(&self.frame, &self.sublayers, block) {
                    tape.push(Kept::Large(large.forward(x, y, keep)));
                    continue;
                }
                let mut h = Buffer::copy_of(x);
                let mut kept = Vec::new();
                for sublayer in &self.sublayers {
                    let (next, saved) = sublayer.forward(&self.frame, block, h, memory, &mut scratch);
                    h = next;
                    if keep {
                        kept.push(saved);
                    }
                }
                y.copy_from_slice(&h);
                tape.push(Kept::Whole(kept));
            }
            tape
        };
        let parts = by_group(&mut y, &self.groups, x_width);
        let tape = self.groups.par_iter().zip(parts).map(run).collect();
        (y, tape)
    }

    /// The gradients of [`Stack::forward`] for dy [B*N, D].
    pub(crate) fn backward(&self, tape: &Tape, memory: &[f32], dy: &[f32]) -> StackGrads {
        let (x_width, memory_width) = (self.frame.n * self.frame.d, self.frame.m * self.frame.d);
        let mut x = vec![0.0; dy.len()];
        let mut dmemory = vec![0.0; memory.len()];
        let memory_parts = by_group(&mut dmemory, &self.groups, memory_width);
        let parts: Vec<_> = by_group(&mut x, &self.groups, x_width)
            .into_par_iter()
            .zip(memory_parts)
            .zip(tape)
            .zip(&self.groups)
            .map(|(((dx, dmemory), tape), group)| {
                let mut scratch = Scratch::default();
                let mut grads: Vec<_> = self.sublayers.iter().map(Sublayer::zero_grads).collect();
                for (&block, kept) in group.iter().zip(tape) {
                    let at = block.first - group[0].first;
                    let memory = &memory[block.first * memory_width..][..block.graphs * memory_width];
                    let dmemory = &mut dmemory[at * memory_width..][..block.graphs * memory_width];
                    let dy = &dy[block.first * x_width..][..block.graphs * x_width];
                    let dx = &mut dx[at * x_width..][..block.graphs * x_width];
                    let kept = match kept {
                        Kept::Whole(kept) => kept,
                        Kept::Large(steps) => {
                            let large = Large::new(&self.frame, &self.sublayers, block);
                            large.expect("large as in forward").backward(steps, dy, dx, &mut grads);
                            continue;
                        }
                    };
                    let mut dh = Buffer::copy_of(dy);
                    for ((sublayer, saved), grads) in self.sublayers.iter().zip(kept).zip(&mut grads).rev() {
                        dh = sublayer.backward(&self.frame, block, saved, dh, memory, dmemory, grads, &mut scratch);
                    }
                    dx.copy_from_slice(&dh);
                }
                grads
            })
            .collect();
        StackGrads { x, memory: dmemory, params: self.sum(&parts) }
    }

    /// Adds the groups' gradients in order, and restores the order of columns.
    fn sum(&self, parts: &[Vec<Vec<Buffer>>]) -> Vec<Vec<f32>> {
        let [first, others @ ..] = parts else { unreachable!("a batch has at least one group") };
        let total = |(index, sublayer): (usize, &Sublayer<'_>)| {
            let mut total: Vec<Vec<f32>> = first[index].iter().map(|grad| grad.to_vec()).collect();
            for (param, total) in total.iter_mut().enumerate() {
                others.iter().for_each(|other| rows::add(total, &other[index][param]));
            }
            sublayer.restore_grads(&mut total, &self.frame);
            total
        };
        let totals: Vec<_> = self.sublayers.par_iter().enumerate().map(total).collect();
        totals.into_iter().flatten().collect()
    }
}

/// Cuts a buffer of `width` numbers per graph into the parts of the groups.
pub(crate) fn by_group<'m>(mut values: &'m mut [f32], groups: &[Vec<Block>], width: usize) -> Vec<&'m mut [f32]> {
    let part = |group: &Vec<Block>| {
        let graphs: usize = group.iter().map(|block| block.graphs).sum();
        let (part, rest) = std::mem::take(&mut values).split_at_mut(graphs * width);
        values = rest;
        part
    };
    groups.iter().map(part).collect()
}

/// Runs `f` on every group of a batch cut by [`Cut`], in parallel, keeping the order of the results.
pub(crate) fn map_groups<T: Send>(batch: usize, cut: Cut, f: impl Fn(Block) -> T + Sync + Send) -> Vec<T> {
    let groups = batch.div_ceil(cut.group);
    (0..groups)
        .into_par_iter()
        .map(|group| {
            let first = group * cut.group;
            f(Block { first, graphs: cut.group.min(batch - first) })
        })
        .collect()
}
