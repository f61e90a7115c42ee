//! [`Stack`]: the sublayers of some blocks over a batch, one group of graphs per task.
//!
//! Partial weight gradients are added in the order of the groups, so that results do not depend on the number of threads or on
//! which of them was faster.

use rayon::prelude::{IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::backward::Memory;
use super::cut::{Cut, by_group};
use super::frame::{Chunk, Frame, Own};
use super::large_graph::{LargeGraph, Step};
use super::params::SublayerView;
use super::sublayer::{Saved, Sublayer};
use crate::kernel::fused::attention::{Scratch, lists};
use crate::kernel::fused::buffer::Buffer;
use crate::kernel::fused::named::with_parts;
use crate::kernel::fused::products::Way;
use crate::kernel::fused::rows;

/// What forward keeps: per group, per chunk.
pub(crate) type Tape = Vec<Vec<Kept>>;

/// What forward keeps of a chunk, per sublayer.
#[derive(Debug)]
pub(crate) enum Kept {
    /// Of one that went through the stack in a piece.
    Whole(Vec<Saved>),
    /// Of a large graph.
    Large(Vec<Step>),
}

/// The gradients of a stack.
pub(super) struct StackGrads {
    pub(super) x: Vec<f32>,
    /// Empty without a memory.
    pub(super) memory: Vec<f32>,
    /// In the order of the sublayers.
    pub(super) sublayers: Vec<SublayerView<Vec<f32>>>,
}

/// A stack ready to run one way.
pub(super) struct Stack<'a> {
    frame: Frame<'a>,
    sublayers: Vec<Sublayer<'a>>,
    /// The chunks of every group, in order and without gaps.
    groups: Vec<Vec<Chunk>>,
}

impl<'a> Stack<'a> {
    /// Of the sublayers in order, each with the number of its block.
    pub(super) fn new(
        frame: Frame<'a>,
        sublayers: Vec<(usize, SublayerView<&'a [f32]>)>,
        batch: usize,
        way: Way,
    ) -> Self {
        let sublayers =
            sublayers.into_par_iter().map(|(layer, params)| Sublayer::new(layer, params, &frame, way)).collect();
        let groups = match frame.own {
            Own::Bias(_) => Cut::new(batch, frame.n, frame.d).groups(batch),
            Own::Lists(pairs) => lists::groups(pairs, frame.d),
        };
        Self { frame, sublayers, groups }
    }

    /// x [B*N, D], memory [B*M, D] -> y [B*N, D] and, if `keep`, what backward needs.
    pub(super) fn forward(&self, x: &[f32], memory: &[f32], keep: bool) -> (Vec<f32>, Tape) {
        let (x_width, memory_width) = (self.frame.n * self.frame.d, self.frame.m * self.frame.d);
        let mut y = vec![0.0; x.len()];
        let run = |(group, y): (&Vec<Chunk>, &mut [f32])| {
            let mut scratch = Scratch::default();
            let mut tape = Vec::new();
            for &chunk in group {
                let at = chunk.first - group[0].first;
                let memory = &memory[chunk.first * memory_width..][..chunk.graphs * memory_width];
                let x = &x[chunk.first * x_width..][..chunk.graphs * x_width];
                let y = &mut y[at * x_width..][..chunk.graphs * x_width];
                if let Some(large) = LargeGraph::new(&self.frame, &self.sublayers, chunk) {
                    tape.push(Kept::Large(large.forward(x, y, keep)));
                    continue;
                }
                let mut h = Buffer::copy_of(x);
                let mut kept = Vec::new();
                for sublayer in &self.sublayers {
                    let (next, saved) = sublayer.forward(&self.frame, chunk, h, memory, &mut scratch);
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
    pub(super) fn backward(&self, tape: &Tape, memory: &[f32], dy: &[f32]) -> StackGrads {
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
                for (&chunk, kept) in group.iter().zip(tape) {
                    let at = chunk.first - group[0].first;
                    let dy = &dy[chunk.first * x_width..][..chunk.graphs * x_width];
                    let dx = &mut dx[at * x_width..][..chunk.graphs * x_width];
                    let kept = match kept {
                        Kept::Whole(kept) => kept,
                        Kept::Large(steps) => {
                            let large = LargeGraph::new(&self.frame, &self.sublayers, chunk);
                            large.expect("large as in forward").backward(steps, dy, dx, &mut grads);
                            continue;
                        }
                    };
                    let mut memory = Memory {
                        values: &memory[chunk.first * memory_width..][..chunk.graphs * memory_width],
                        grad: &mut dmemory[at * memory_width..][..chunk.graphs * memory_width],
                    };
                    let mut dh = Buffer::copy_of(dy);
                    for ((sublayer, saved), grads) in self.sublayers.iter().zip(kept).zip(&mut grads).rev() {
                        dh = sublayer.backward(&self.frame, chunk, saved, dh, &mut memory, grads, &mut scratch);
                    }
                    dx.copy_from_slice(&dh);
                }
                grads
            })
            .collect();
        StackGrads { x, memory: dmemory, sublayers: self.sum(&parts) }
    }

    /// Adds the groups' gradients in order, and restores the order of columns.
    fn sum(&self, groups: &[Vec<SublayerView<Buffer>>]) -> Vec<SublayerView<Vec<f32>>> {
        let [first, others @ ..] = groups else { unreachable!("a batch has at least one group") };
        let totals: Vec<_> = first.iter().map(|grads| grads.each_ref().map(|grad| grad.to_vec())).collect();
        let parts = with_parts(totals, others.iter().map(|group| group.iter().collect()));
        let add = |mut total: SublayerView<Vec<f32>>, parts: Vec<&SublayerView<Buffer>>| {
            for part in parts {
                let pairs = total.each_mut().list().into_iter().zip(part.each_ref().list());
                pairs.for_each(|(total, part)| rows::add(total, part));
            }
            total
        };
        let summed = parts.into_par_iter().zip(&self.sublayers);
        summed.map(|((total, parts), sublayer)| Sublayer::restore(sublayer, add(total, parts), &self.frame)).collect()
    }
}
